"""One text, one reader (contract § 6)."""

from itertools import islice
from typing import Final

from rhapsode_contract import Variant

from rhapsode_conform.answer import Answer, as_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.checks.long_texts import streamed
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.subject import SEED, Subject

_UNSPEAKABLE: Final = ("", "   ", "\n", "...", "\u200b", "😀")
_DURATION: Final = "x-rhapsode-duration-ms"
_DURATION_TOLERANCE_MS: Final = 50
_VOICES_TRIED: Final = 3
_BODY_BYTES: Final = 1024 * 1024
"""What a body of JSON may be at the most."""
_PIECE_CHARACTERS: Final = 200
"""What is one piece of audio for whoever says nothing else: twice as much is more than one."""


@check("6.speak.text")
async def text(subject: Subject) -> None:
    """No text, no speech."""
    answer = await subject.speak(text=None)
    expect(answer.code == "bad_request", "a request without a text is `bad_request`", answer)


@check("6.speak.voice")
async def voice(subject: Subject) -> None:
    """A listed voice speaks, and so does none."""
    await subject.heard()
    for voice_id in subject.voices[:_VOICES_TRIED]:
        answer = await subject.speak(voice=voice_id)
        expect(answer.is_audio, f"the voice {voice_id!r} is listed and speaks", answer)


@check("6.speak.variant", Need.VARIANTS)
async def variant(subject: Subject) -> None:
    """The resident variant stays where none is named."""
    other = subject.other_variant()
    await subject.load(other)
    if (await subject.health()).get("variant") != other:
        raise undecided(f"{other!r} could not be loaded; see 4.variants.loadable")
    await subject.wire.post("/speak", _unnamed(subject, other))
    health = await subject.health()
    expect(health.get("variant") == other, f"{other!r} is loaded, so it is what speaks", health)


@check("d.variant.default")
async def default_variant(subject: Subject) -> None:
    """With nothing loaded and none named, the first one speaks."""
    names = list(as_object(subject.document.get("variants")))
    if subject.wanted_variant is not None and names[:1] != [subject.wanted_variant]:
        raise undecided("the default is not the variant that may be looked at")
    await subject.unload()
    await subject.wire.post("/speak", _unnamed(subject, subject.variant))
    health = await subject.health()
    expect(health.get("variant") == names[0], f"{names[0]!r} stands first", health)


def _unnamed(subject: Subject, variant: str) -> dict[str, object]:
    """Returns a request for a sentence of a variant that does not name it."""
    request = subject.request({"variant": variant})
    return {name: value for name, value in request.items() if name != "variant"}


@check("4.effective.request-first", Need.VARIANTS)
async def request_first(subject: Subject) -> None:
    """The variant that a request names speaks, whatever is loaded."""
    other = subject.other_variant()
    await subject.load(subject.variant)
    await subject.speak(variant=other)
    health = await subject.health()
    expect(health.get("variant") == other, f"the request names {other!r}", health)


@check("d.codes.variant")
async def unknown_variant(subject: Subject) -> None:
    """A variant that is not listed, to speak and to be loaded."""
    for answer in (
        await subject.speak(variant="no-such-variant-1"),
        await subject.load("no-such-variant-1"),
    ):
        expect(answer.code == "unsupported", "an unknown variant is `unsupported`", answer)


@check("6.seed.optional")
async def seed_optional(subject: Subject) -> None:
    """With a seed and without one."""
    for seed in (None, SEED):
        answer = await subject.speak(seed=seed)
        expect(answer.is_audio, "a seed may be there or not", answer)


@check("6.seed.reproduces")
async def seed_reproduces(subject: Subject) -> None:
    """The same twice, where the engine can."""
    answer = await subject.speak(seed=SEED)
    expect(answer.is_audio, "a request with a seed is spoken", answer)
    if not await subject.reproduces():
        raise undecided(
            "the same request with the same seed gave other audio; not every engine can"
        )


@check("6.stream.chunked")
async def chunked(subject: Subject) -> None:
    """In chunks, more than one of them where it says that it streams."""
    answer = await streamed(subject, subject.plainest)
    is_chunked = (answer.header("transfer-encoding") or "").lower() == "chunked"
    expect(is_chunked, "`stream: true` is answered in chunks", answer.headers)
    expect(not answer.broken_off, "the stream ends whole", answer)
    await subject.load(subject.variant)
    loaded = (await subject.wire.get("/capabilities")).object
    streaming = as_object(as_object(loaded.get("current")).get("streaming"))
    if streaming.get("supported") is not True:
        return  # it has all of its audio before it has any
    variant = subject.variants[subject.variant]
    piece = _most_in_a_piece(variant)
    text = subject.texts.long(variant, 2 * (piece or _PIECE_CHARACTERS))
    request = subject.request({"text": text, "format": subject.plainest, "stream": True})
    sizes = await subject.wire.sizes_of_chunks("/speak", request)
    if len(sizes) < 2 and (piece is None or len(text) <= piece):
        raise undecided(f"{len(text)} characters came in one chunk, and may be one piece to it")
    seen = f"one chunk of {sum(sizes)} bytes for {len(text)} characters"
    expect(len(sizes) > 1, "a long text is sent as it is made, as it says that it does", seen)


def _most_in_a_piece(variant: Variant) -> int | None:
    """Returns how many characters may well be made in one piece: what one generation gets.

    None where text is split and nothing is said of that.
    """
    split = variant.segmentation
    if split is None or not split.supported:
        return _PIECE_CHARACTERS
    return split.segment_characters and max(split.segment_characters, _PIECE_CHARACTERS)


@check("1.transport.chunked")
async def no_framing(subject: Subject) -> None:
    """What comes in the chunks is the audio and nothing else."""
    answer = await streamed(subject, "wav" if "wav" in subject.formats else subject.sampled)
    sound = as_sound(answer)
    width = 2 * sound.channels
    expect(len(sound.pcm) % width == 0, "the body is whole samples", f"{len(sound.pcm)} bytes")
    expect(not sound.is_silent, "the body is audio, not silence", answer)


@check("6.buffer.content-length")
async def content_length(subject: Subject) -> None:
    """Whole, with its length."""
    answer = await subject.heard(stream=False)
    said = answer.header("content-length")
    is_said = said == str(len(answer.body))
    expect(is_said, "`stream: false` is answered with its Content-Length", answer.headers)


@check("6.duration.header")
async def duration_header(subject: Subject) -> None:
    """The header says how long the samples sound."""
    answer = await subject.heard(format=subject.sampled, stream=False)
    _expect_duration(answer, answer.header(_DURATION), "the header")


@check("6.duration.trailer")
async def duration_trailer(subject: Subject) -> None:
    """And so does the trailer of a stream."""
    answer = await streamed(subject, subject.sampled)
    _expect_duration(answer, dict(answer.trailers).get(_DURATION), "the trailer")


def _expect_duration(answer: Answer, said: str | None, where: str) -> None:
    sounds_ms = as_sound(answer).duration_ms
    is_near = said is not None and said.isdecimal()
    is_near = is_near and abs(int(said or 0) - sounds_ms) <= _DURATION_TOLERANCE_MS
    expect(is_near, f"{where} X-Rhapsode-Duration-Ms says {sounds_ms:.0f}", f"it says {said!r}")


@check("d.defaults.format")
async def default_format(subject: Subject) -> None:
    """WAV where none is asked for, which every worker therefore has."""
    is_there = "wav" in subject.formats
    expect(is_there, "`wav` is what is answered without `format`, so it is listed", subject.formats)
    answer = await subject.heard()
    expect(answer.body[:4] == b"RIFF", "without `format` the audio is WAV", answer)


@check("d.defaults.stream")
async def default_stream(subject: Subject) -> None:
    """Whole where nothing is said."""
    answer = await subject.heard()
    is_whole = answer.header("content-length") is not None
    expect(is_whole, "without `stream` the answer is whole, with its length", answer.headers)


@check("d.codes.coerced-boolean")
async def coerced_boolean(subject: Subject) -> None:
    """As with `stream: false` where `stream` is a word that says so."""
    answer = await subject.speak(stream="off")
    expect(answer.is_audio, '`"stream": "off"` is a boolean', answer)
    is_whole, is_meant = (
        each.header("content-length") is not None
        for each in (answer, await subject.heard(stream=False))
    )
    expect(is_whole == is_meant, '`"stream": "off"` is `false`', answer.headers)


@check("8.checks.max-characters")
async def max_characters(subject: Subject) -> None:
    """One character more than is allowed."""
    answer = await _too_long(subject)
    expect(answer.is_refusal, "text over `maxCharacters` is refused", answer)


@check("d.codes.too-long")
async def too_long(subject: Subject) -> None:
    """And how that is called."""
    answer = await _too_long(subject)
    if not answer.is_refusal:
        raise undecided("it was not refused; see 8.checks.max-characters")
    expect(answer.code == "bad_request", "text over `maxCharacters` is `bad_request`", answer)


async def _too_long(subject: Subject) -> Answer:
    async def ask() -> Answer:
        variant = subject.variants[subject.variant]
        text = longer_than(subject, variant, variant.character_limit)
        return await subject.speak(text=text)

    return await subject.once("too long", ask)


def longer_than(subject: Subject, variant: Variant, characters: int) -> str:
    """Returns a text of one character more than so many.

    Raises:
        Finding: It would be more than a body may hold.
    """
    if characters >= _BODY_BYTES:
        raise undecided("no body may be so large as a text over its `maxCharacters`")
    return subject.texts.exactly(variant, characters + 1)


@check("d.codes.unspeakable")
async def unspeakable(subject: Subject) -> None:
    """Nothing, blanks, points and pictures, alone and as a turn among others."""
    for nothing in _UNSPEAKABLE:
        answer = await subject.speak(text=nothing)
        is_refused = answer.code == "bad_request" and "text" in answer.message
        expect(is_refused, f"{nothing!r} is `bad_request` naming `text`", answer)
    talking = (pair for pair in subject.variants.items() if pair[1].dialogue is not None)
    for name, variant in islice(talking, 1):
        said = subject.texts.shared(variant, 2)
        for nothing in _UNSPEAKABLE:
            turns = [{"speaker": "s0", "text": each} for each in (said, nothing)]
            fields = {"variant": name, **subject.in_a_format, "turns": turns}
            answer = await subject.wire.post("/dialogue", fields)
            is_named = "text" in answer.message or "turns" in answer.message
            is_refused = answer.code == "bad_request" and is_named
            expect(is_refused, f"a turn of {nothing!r} is `bad_request` naming it", answer)
