"""Several requests at once, and listeners who leave (contract § 8)."""

import json
from typing import Final

import anyio

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.outcome import expect, failed, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.subject import SEED, Subject
from rhapsode_conform.texts import long_text_for
from rhapsode_conform.wire import JSON_TYPE

_AT_ONCE: Final = 4
_CROWD: Final = 40
"""More than any worker should let wait: 32 and the one that is spoken."""
_LONG_CHARACTERS: Final = 1500
_ASKED_AGAIN: Final = 50
_AGAIN_SECONDS: Final = 0.1


def long_request(subject: Subject) -> dict[str, object]:
    """Returns a request for more audio than any pipe between us holds, streamed."""
    text = long_text_for(subject.variants[subject.variant], _LONG_CHARACTERS)
    return subject.request({"text": text, "format": subject.sampled, "stream": True})


@check("8.serial.default", Need.SEED)
async def serial(subject: Subject) -> None:
    """Four at once, each with a seed of its own, sound as each does alone."""
    form = subject.sampled
    seeds = [SEED + number for number in range(_AT_ONCE)]
    alone = [as_sound(await subject.heard(format=form, seed=seed)) for seed in seeds]
    together: dict[int, Answer] = {}

    async def ask(seed: int) -> None:
        together[seed] = await subject.speak(format=form, seed=seed)

    async with anyio.create_task_group() as tasks:
        for seed in seeds:
            tasks.start_soon(ask, seed)
    for seed, sound in zip(seeds, alone, strict=True):
        answer = together[seed]
        expect(answer.is_audio, "requests that come at once are all spoken", answer)
        is_own = as_sound(answer).pcm == sound.pcm
        expect(is_own, "a request spoken among others sounds as it does alone", f"seed {seed}")


@check("d.queue.limit")
async def queue_limit(subject: Subject) -> None:
    """A crowd: each is spoken, or told that the line is full."""
    refusals: list[Answer] = []

    async def ask(crowd: anyio.CancelScope) -> None:
        answer = await subject.speak(text=str(long_request(subject)["text"]))
        if not answer.is_audio:
            refusals.append(answer)
            crowd.cancel()  # the rest would only be waited for

    async with anyio.create_task_group() as tasks:
        for _ in range(_CROWD):
            tasks.start_soon(ask, tasks.cancel_scope)
    for answer in refusals:
        expect(
            answer.code == "overloaded", "in a crowd, a request is spoken or `overloaded`", answer
        )
    if not refusals:
        raise undecided(f"{_CROWD} at once were all spoken; its line never filled up")


@check("d.queue.hang-up")
async def hang_up(subject: Subject) -> None:
    """Who leaves after the first audio does not keep the next one waiting for ever."""
    await _line_is_free(subject)
    request = subject.wire.open("POST", "/speak", _body(long_request(subject)), JSON_TYPE)
    async with request as response:
        await response.read()
    answer = await subject.speak()
    expect(answer.is_audio, "after a listener has left the next one is served", answer)


async def _line_is_free(subject: Subject) -> None:
    """Waits for a worker to notice that the crowd of `d.queue.limit` has left; not for long, since
    who keeps those that have left in the line is found out by what comes next."""
    for _ in range(_ASKED_AGAIN):
        if (await subject.speak()).code != "overloaded":
            return
        await anyio.sleep(_AGAIN_SECONDS)


@check("d.queue.responsive")
async def responsive(subject: Subject) -> None:
    """Health and capabilities answer while a long text is spoken to somebody who reads slowly."""
    bound = subject.patience.health_seconds
    request = subject.wire.open("POST", "/speak", _body(long_request(subject)), JSON_TYPE)
    async with request as response:
        await response.read()
        for target in ("/health", "/capabilities"):
            answer: Answer | None = None
            with anyio.move_on_after(bound):
                answer = await subject.wire.get(target)
            if answer is None:
                raise failed(f"{target} answers while it speaks", f"nothing within {bound:g} s")
            expect(answer.status == 200, f"{target} answers while it speaks", answer)


def _body(fields: dict[str, object]) -> bytes:
    return json.dumps(fields).encode()
