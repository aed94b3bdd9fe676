"""The voices that there are (contract § 7)."""

import re
from typing import Final
from urllib.parse import quote

from rhapsode_contract import VOICE_ID_PATTERN

from rhapsode_conform.answer import Answer, as_list, as_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.checks.creating import post, source_of
from rhapsode_conform.claims import sound_of
from rhapsode_conform.containers import NotAudio
from rhapsode_conform.decoded import decoded
from rhapsode_conform.outcome import expect, failed
from rhapsode_conform.sound import is_different
from rhapsode_conform.subject import Subject

_NO_IDS: Final = (
    "../../etc/passwd",
    "..%2f..",
    "C:\\x",
    "a/b",
    "*",
    ".hidden",
    "-first",
    "a b",
    "ä",
    "a" * 65,
    "a" * 300,
    "a\0b",
    "a\n",
)
"""Texts that are no voice id, most of them because a file would be made of one."""

_NO_PATH_IDS: Final = ("..%2f..", "%2e%2e", "a%00b", "%2A", "a" * 65)
"""The same, percent-encoded, for the path of a route."""

_NO_MADE_IDS: Final = ("../conform-voice-2", "conform voice", ".conform-voice", "ä", "a" * 65, "")
"""The same for a voice to be made: none that would do harm where it is, and a file of it."""

_VOICES_COMPARED: Final = 8
"""Before it is said that they are all alike: some may be other names of one."""


@check("7.voices.listed")
async def listed(subject: Subject) -> None:
    """Id, label and spec of each."""
    answer = subject.first.voices
    expect(answer.status == 200 and answer.is_list, "/voices answers a list", answer)
    for voice in as_list(answer.json):
        for name in ("id", "label", "spec"):
            value = as_object(voice).get(name)
            expect(isinstance(value, str) and value != "", f"each voice has its `{name}`", voice)
    expect(len(set(subject.voices)) == len(subject.voices), "no id is listed twice", answer)


@check("7.voices.distinct", Need.TWO_VOICES, Need.SEED)
async def distinct(subject: Subject) -> None:
    """Not all of them sound the same."""
    tried = subject.voices[:_VOICES_COMPARED]
    seen = f"the same audio from {', '.join(tried)}"
    expect(await apart(subject) is not None, "`voice` chooses who speaks", seen)


async def apart(subject: Subject) -> tuple[str, str] | None:
    """Returns the first voice and one that does not sound like it; None where all of them do.

    Raises:
        Finding: One that is listed was not spoken.
    """

    async def compare() -> tuple[str, str] | None:
        first, *others = subject.voices[:_VOICES_COMPARED]
        sound = await sound_of(subject, subject.variant, voice=first)
        for other in others:
            if is_different(sound, await sound_of(subject, subject.variant, voice=other)):
                return first, other
        return None

    return await subject.once("voices apart", compare)


@check("7.id.grammar")
async def grammar(subject: Subject) -> None:
    """What is no id is not listed, and is refused as such wherever an id is said."""
    for voice_id in subject.voices:
        is_id = re.fullmatch(VOICE_ID_PATTERN, voice_id) is not None
        expect(is_id, f"{voice_id!r} is listed and is no voice id", subject.first.voices)
    for text in _NO_IDS:
        answer = await subject.speak(voice=text)
        expect(answer.code == "bad_request", f"the voice id {text!r} is `bad_request`", answer)
    for text in _NO_PATH_IDS:
        deleted = await subject.wire.send("DELETE", f"/voices/{text}")
        heard = await subject.wire.get(f"/voices/{text}/preview")
        for answer in (deleted, heard):
            expect(answer.code == "bad_request", f"the voice id {text} is `bad_request`", answer)
    await _expect_none_is_made(subject)
    await _expect_none_talks(subject)


async def _expect_none_is_made(subject: Subject) -> None:
    source = await source_of(subject)
    if not source:
        return  # whatever is asked for is `unsupported`
    for text in _NO_MADE_IDS:
        answer = await post(subject, id=text, label="Made", **source)
        if not answer.is_refusal:
            await subject.wire.send("DELETE", f"/voices/{quote(text, safe='')}")
        is_refused = answer.code == "bad_request"
        expect(is_refused, f"a voice cannot be made under the id {text!r}", answer)


async def _expect_none_talks(subject: Subject) -> None:
    for name, variant in subject.variants.items():
        if variant.dialogue is None:
            continue
        turn = {"speaker": "A", "text": subject.texts.sentence(variant)}
        for text in _NO_IDS[:2]:
            fields = {"variant": name, "turns": [turn], "voices": {"A": text}}
            answer = await subject.wire.post("/dialogue", {**fields, **subject.in_a_format})
            is_refused = answer.code == "bad_request"
            expect(is_refused, f"in a dialogue the voice id {text!r} is `bad_request`", answer)


@check("d.listing.no-model")
async def listing_loads_nothing(subject: Subject) -> None:
    """What it can do and whose voices it has is known without a model."""
    await subject.unload()
    for target in ("/capabilities", "/voices"):
        await subject.wire.get(target)
        health = await subject.wire.get("/health")
        is_none = health.object.get("model") == "unloaded"
        expect(is_none, f"GET {target} loads no model", health)


@check("d.preview.no-model", Need.VOICES)
async def preview(subject: Subject) -> None:
    """A preview is there or not, and never needs the model."""
    await subject.unload()
    for voice in as_list(subject.first.voices.json)[:3]:
        voice_id = as_object(voice).get("id")
        url = as_object(voice).get("previewUrl")
        if url is None:
            answer = await subject.wire.get(f"/voices/{voice_id}/preview")
            is_told = answer.code == "unsupported"
            expect(is_told, "without `previewUrl` the preview is `unsupported`", answer)
        else:
            answer = await subject.wire.get(str(url))
            is_sample = answer.is_audio and answer.content_type == "audio/wav"
            expect(is_sample, "`previewUrl` answers audio/wav", answer)
            _expect_sound(answer)
    health = await subject.wire.get("/health")
    expect(health.object.get("model") == "unloaded", "a preview loads no model", health)


def _expect_sound(preview: Answer) -> None:
    """Goes on where there is something to hear, in samples of whatever width."""
    try:
        sound = decoded(preview.body, 0)
    except NotAudio as error:
        raise failed(f"a preview is no WAV: {error}", preview) from None
    expect(sound.pcm != b"", "a preview holds audio", preview)
