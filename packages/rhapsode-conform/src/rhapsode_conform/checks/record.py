"""What is true of every answer: looked at last, over all that came (contract § 6, "Errors")."""

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from rhapsode_contract import ERRORS, ErrorCode

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import check
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.subject import Subject

_CAMEL: Final = re.compile(r"[a-z][a-zA-Z0-9]*")
_MAPS: Final = ("variants",)
"""Objects whose keys are names that the engine chose as it liked. Those of dials are fields of a
request, and written as such."""
_BAD_REQUEST_STATUSES: Final = {400, 404, 405}


async def _refusals(subject: Subject) -> list[Answer]:
    """Returns every refusal so far, a few of them provoked here in case nothing else was asked."""

    async def provoke() -> None:
        await subject.speak(noSuchField=1)
        await subject.speak(format="no-such-format")
        await subject.speak(voice="no-such-voice-1")
        await subject.wire.post("/no/such/route", {})
        await subject.wire.send("DELETE", "/health")

    await subject.once("refusals provoked", provoke)
    return [answer for answer in subject.wire.answers if answer.is_refusal]


def _with_code(answers: list[Answer], code: ErrorCode) -> list[Answer]:
    found = [answer for answer in answers if answer.code == code]
    if not found:
        raise undecided(f"nothing was refused as `{code}`")
    return found


@check("d.errors.everywhere")
async def everywhere(subject: Subject) -> None:
    """Each refusal holds an `error` object."""
    for answer in await _refusals(subject):
        expect(answer.error != {}, "every answer that is no success is an error envelope", answer)


@check("6.errors.envelope")
async def envelope(subject: Subject) -> None:
    """Code, message and `retryable`, and nothing else."""
    for answer in await _refusals(subject):
        if not answer.error:
            continue  # d.errors.everywhere
        expect(set(answer.object) == {"error"}, "an envelope holds `error` alone", answer)
        foreign = set(answer.error) - {"code", "message", "retryable"}
        expect(not foreign, "`error` holds code, message and retryable alone", answer)
        is_said = isinstance(answer.error.get("code"), str) and bool(answer.error.get("message"))
        expect(is_said, "an error has a code and a message", answer)


@check("6.errors.retryable")
async def retryable(subject: Subject) -> None:
    """In every error, and as its code has it."""
    for answer in await _refusals(subject):
        if not answer.error:
            continue  # d.errors.everywhere
        said = answer.error.get("retryable")
        expect(isinstance(said, bool), "every error says whether it is retryable", answer)
        known = _known(answer.code)
        if known is not None:
            wanted = ERRORS[known].retryable
            expect(said == wanted, f"`{known}` is {'' if wanted else 'not '}retryable", answer)


def _known(code: str | None) -> ErrorCode | None:
    return next((each for each in ErrorCode if each.value == code), None)


@check("6.errors.bad-request")
async def bad_request(subject: Subject) -> None:
    """400; or 404 and 405, for routes and methods."""
    found = _with_code(await _refusals(subject), ErrorCode.BAD_REQUEST)
    for answer in found:
        is_right = answer.status in _BAD_REQUEST_STATUSES
        expect(is_right, "`bad_request` is 400", answer)
    speaking = [answer for answer in found if answer.target == "/speak" and answer.method == "POST"]
    for answer in speaking:
        expect(answer.status == 400, "a `bad_request` of /speak is 400", answer)


@check("6.errors.unsupported")
async def unsupported(subject: Subject) -> None:
    """422."""
    for answer in _with_code(await _refusals(subject), ErrorCode.UNSUPPORTED):
        expect(answer.status == 422, "`unsupported` is 422", answer)


@check("d.errors.never-audio")
async def never_audio(subject: Subject) -> None:
    """A refusal is not called audio."""
    for answer in await _refusals(subject):
        is_audio = answer.content_type.startswith("audio/")
        expect(not is_audio, "an error is never sent as audio", answer)


@check("d.errors.retry-after")
async def retry_after(subject: Subject) -> None:
    """Who may try again is told when."""
    found = [each for each in await _refusals(subject) if each.error.get("retryable") is True]
    if not found:
        raise undecided("nothing was refused that could be tried again")
    for answer in found:
        said = answer.header("retry-after") or ""
        expect(said.isdecimal(), "a retryable refusal carries Retry-After", answer.headers)


@check("d.request-id.answered")
async def request_id(subject: Subject) -> None:
    """On every answer."""
    await _refusals(subject)
    for answer in subject.wire.answers:
        is_there = bool(answer.header("x-request-id"))
        expect(is_there, "every answer carries X-Request-Id", f"{answer.method} {answer.target}")


@check("d.json.camel-case")
async def camel_case(subject: Subject) -> None:
    """Every name in every answer, and no null."""
    for answer in [*_first(subject), *subject.wire.answers]:
        if answer.content_type != "application/json":
            continue
        for name, value in _names(answer.json):
            expect(_CAMEL.fullmatch(name) is not None, f"{name!r} is not camelCase", answer)
            expect(value is not None, f"{name!r} is null; it should be absent", answer)


def _first(subject: Subject) -> tuple[Answer, ...]:
    return (subject.first.health, subject.first.capabilities, subject.first.voices)


def _names(value: object) -> Iterator[tuple[str, Any]]:
    """Yields every field with its value, but for those of maps."""
    if isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _names(item)
    elif isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield name, inner
            if name not in _MAPS:
                yield from _names(inner)
            elif isinstance(inner, dict):
                for each in cast("dict[str, Any]", inner).values():
                    yield from _names(each)
