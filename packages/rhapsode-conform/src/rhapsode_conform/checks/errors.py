"""Requests that cannot be served, and what they are called (contract § 6, "Errors")."""

import json
from typing import Final

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.checks.creating import MADE, blends, clones, post, source_of
from rhapsode_conform.outcome import expect
from rhapsode_conform.subject import Subject

_NOBODY: Final = "no-such-voice-1"
_JSON_LIMIT_BYTES: Final = 1024 * 1024


@check("d.codes.malformed")
async def malformed(subject: Subject) -> None:
    """JSON that breaks off."""
    answer = await subject.speak_raw('{"text": "It is going to rain.", ')
    expect(answer.code == "bad_request", "malformed JSON is `bad_request`", answer)
    says_where = any(character.isdigit() for character in answer.message)
    expect(says_where, "its message says where the fault is", answer)


@check("d.codes.content-type")
async def content_type(subject: Subject) -> None:
    """A body that says it is a form."""
    body = b"text=rain"
    answer = await subject.wire.send("POST", "/speak", body, "application/x-www-form-urlencoded")
    expect(answer.code == "bad_request", "a body that is not JSON is `bad_request`", answer)


@check("d.codes.unknown-field")
async def unknown_field(subject: Subject) -> None:
    """A field that no request has."""
    answer = await subject.speak(noSuchField=1)
    is_refused = answer.code == "bad_request" and "noSuchField" in answer.message
    expect(is_refused, "an unknown field is `bad_request` naming it", answer)
    if source := await source_of(subject):
        made = await post(subject, id=MADE, label="Made", **source, noSuchField="1")
        if not made.is_refusal:
            await subject.wire.send("DELETE", f"/voices/{MADE}")
        is_refused = made.code == "bad_request" and "noSuchField" in made.message
        expect(is_refused, "so is an unknown field of a create", made)


@check("d.codes.wrong-type")
async def wrong_type(subject: Subject) -> None:
    """Each field, with a value of the wrong kind."""
    wrong: dict[str, object] = {
        "text": 7,
        "voice": ["a"],
        "seed": True,
        "stream": "maybe",
        "params": 1,
    }
    for name, value in wrong.items():
        answer = await subject.speak(**{name: value})
        expect(answer.code == "bad_request", f"`{name}: {value!r}` is `bad_request`", answer)


@check("d.codes.non-finite")
async def non_finite(subject: Subject) -> None:
    """A number that is none."""
    turned = (name for name, each in subject.variants.items() if each.dials)
    variant = next(turned, subject.variant)
    dial = next(iter(subject.variants[variant].dials), "speed")
    for number in ("NaN", "Infinity", "1e999"):
        body = json.dumps(subject.request({"variant": variant, "params": {dial: 0}}))
        answer = await subject.speak_raw(body.replace(": 0}", f": {number}}}"))
        is_refused = answer.code == "bad_request"
        expect(is_refused, f"`{dial}: {number}` is `bad_request`", answer)


@check("d.errors.unknown-route")
async def unknown_route(subject: Subject) -> None:
    """A path that nobody serves."""
    answer = await subject.wire.get("/no-such-route")
    is_refused = answer.status == 404 and answer.code == "bad_request"
    expect(is_refused, "a route nobody serves is 404 `bad_request`", answer)


@check("d.errors.method")
async def method(subject: Subject) -> None:
    """A route asked in a way that it does not have."""
    answer = await subject.wire.get("/speak")
    is_refused = answer.status == 405 and answer.code == "bad_request"
    expect(is_refused, "GET /speak is 405 `bad_request`", answer)
    allowed = answer.header("allow") or ""
    expect("POST" in allowed, "a 405 says in `Allow` what the route takes", answer.headers)


@check("7.unknown.no-substitute")
async def no_substitute(subject: Subject) -> None:
    """A voice that is not there is not another one."""
    answer = await subject.speak(voice=_NOBODY)
    expect(answer.is_refusal, "a voice that it does not have is refused", answer)


@check("d.errors.near-voices", Need.VOICES)
async def near_voices(subject: Subject) -> None:
    """A slip of the pen is told what was meant."""
    meant = subject.voices[0]
    asked = f"{meant[:60]}-x"
    answer = await subject.speak(voice=asked)
    is_listed = meant in answer.message.replace(asked, "")
    expect(is_listed, f"the message for {asked!r} lists {meant!r}", answer)


@check("d.limits.body")
async def body_limit(subject: Subject) -> None:
    """A body of a little more than 1 MiB."""
    answer = await subject.speak_raw(json.dumps(subject.request({})) + " " * _JSON_LIMIT_BYTES)
    expect(answer.code == "bad_request", "a body over 1 MiB is `bad_request`", answer)


@check("6.errors.unknown-voice")
async def unknown_voice(subject: Subject) -> None:
    """How a voice that is not there is refused: to speak, to be deleted and to be heard."""
    answer = await subject.speak(voice=_NOBODY)
    is_refused = answer.status == 404 and answer.code == "unknown_voice"
    expect(is_refused or not answer.is_refusal, "an unknown voice is 404 `unknown_voice`", answer)
    deleted = await subject.wire.send("DELETE", f"/voices/{_NOBODY}")
    makes_none = not any(clones(each) or blends(each) for each in subject.variants.values())
    if not (makes_none and deleted.code == "unsupported"):
        _expect_unknown(deleted)
    _expect_unknown(await subject.wire.get(f"/voices/{_NOBODY}/preview"))


def _expect_unknown(answer: Answer) -> None:
    is_refused = answer.status == 404 and answer.code == "unknown_voice"
    expect(is_refused, "an unknown voice is 404 `unknown_voice` wherever it is named", answer)
