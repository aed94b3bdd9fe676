"""Several requests at once, and listeners who leave (contract § 8)."""

import json
from typing import Final

import anyio

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.outcome import expect, failed, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import is_different
from rhapsode_conform.subject import SEED, Subject
from rhapsode_conform.texts import is_speakable
from rhapsode_conform.wire import JSON_TYPE

_AT_ONCE: Final = 4
_CROWD: Final = 40
"""More than any worker should let wait: 32 and the one that is spoken."""
LONG_CHARACTERS: Final = 1500
_AGAIN_SECONDS: Final = 0.1
_AGAIN_SHARE: Final = 0.5
"""Of what a check may take: as long a request is made again that is refused as `overloaded`."""


def long_request(subject: Subject) -> dict[str, object]:
    """Returns a request for more audio than any pipe between us holds, streamed."""
    text = subject.texts.long(subject.variants[subject.variant], LONG_CHARACTERS)
    return subject.request({"text": text, "format": subject.plainest, "stream": True})


@check("8.serial.default", Need.SEED)
async def serial(subject: Subject) -> None:
    """Four at once, each with a text and a seed of its own, sound as each does alone.

    Those that are refused, as a worker may at its limit, are made again.
    """
    requests = _unlike(subject)
    alone = [as_sound(await subject.heard(**fields)) for fields in requests]
    together: dict[int, Answer] = {}

    async def ask(number: int, fields: dict[str, object]) -> None:
        together[number] = await subject.speak(**fields)

    async with anyio.create_task_group() as tasks:
        for number, fields in enumerate(requests):
            tasks.start_soon(ask, number, fields)
    unsteady: list[object] = []
    for number, fields in enumerate(requests):
        answer = together[number]
        if answer.code == "overloaded":
            answer = await _let_in(subject, **fields)
        expect(answer.is_audio, "requests that come at once are all spoken in the end", answer)
        spoken = as_sound(answer)
        if not is_different(spoken, alone[number]):
            continue
        is_another = await subject.stands_apart(spoken, **fields)
        expect(not is_another, "a request spoken among others sounds as it does alone", fields)
        unsteady.append(fields["text"])
    if unsteady:
        raise undecided(f"{unsteady} with one seed sound otherwise each time, alone as well")


def _unlike(subject: Subject) -> list[dict[str, object]]:
    """Returns requests for beginnings of one sentence, each longer than the one before, so that
    the audio of one is told from that of another."""
    text = str(subject.request({})["text"])
    cuts = [text[: len(text) * part // _AT_ONCE].strip() for part in range(1, _AT_ONCE + 1)]
    return [
        {"text": cut if is_speakable(cut) else text, "seed": seed, "format": subject.sampled}
        for seed, cut in enumerate(cuts, SEED)
    ]


@check("d.queue.limit")
async def queue_limit(subject: Subject) -> None:
    """A crowd: each is spoken, or told that the line is full."""
    refusals: list[Answer] = []
    request = _body(subject.request({"text": str(long_request(subject)["text"])}))

    async def ask(crowd: anyio.CancelScope) -> None:
        # Not kept: it is audio for an hour.
        answer = await subject.wire.send("POST", "/speak", request, JSON_TYPE, is_kept=False)
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
    await _let_in(subject)  # the crowd of the check before may only just have left
    request = subject.wire.open("POST", "/speak", _body(long_request(subject)), JSON_TYPE)
    async with request as response:
        await response.read()
    answer = await _let_in(subject)
    expect(answer.is_audio, "after a listener has left the next one is served", answer)


async def _let_in(subject: Subject, **fields: object) -> Answer:
    """Returns the answer to a request that is made again while it is refused as `overloaded`.

    A worker that lets few wait, or none, refuses while it notices that somebody has left; not for
    ever, so after a while the refusal is what is returned.
    """
    until = anyio.current_time() + _AGAIN_SHARE * subject.patience.check_seconds
    answer = await subject.speak(**fields)
    while answer.code == "overloaded" and anyio.current_time() < until:
        await anyio.sleep(_AGAIN_SECONDS)
        answer = await subject.speak(**fields)
    return answer


@check("d.queue.responsive")
async def responsive(subject: Subject) -> None:
    """Health and listings answer while a model is loaded, and while a long text is spoken to
    somebody who reads slowly."""
    await subject.unload()
    async with anyio.create_task_group() as tasks:
        is_over = anyio.Event()

        async def load() -> None:
            await subject.load(subject.variant)
            is_over.set()

        tasks.start_soon(load)
        while not is_over.is_set():
            await _expect_answers(subject, "while it loads")
            await anyio.sleep(_AGAIN_SECONDS)
    request = subject.wire.open("POST", "/speak", _body(long_request(subject)), JSON_TYPE)
    async with request as response:
        await response.read()
        await _expect_answers(subject, "while it speaks")


async def _expect_answers(subject: Subject, when: str) -> None:
    bound = subject.patience.health_seconds
    for target in ("/health", "/capabilities", "/voices"):
        answer: Answer | None = None
        with anyio.move_on_after(bound):
            answer = await subject.wire.get(target)
        if answer is None:
            raise failed(f"{target} answers {when}", f"nothing within {bound:g} s")
        expect(answer.status == 200, f"{target} answers {when}", answer)


def _body(fields: dict[str, object]) -> bytes:
    return json.dumps(fields).encode()
