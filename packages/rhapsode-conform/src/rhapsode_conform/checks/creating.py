"""Voices that are made, replaced and taken away (contract § 7)."""

import pickle
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from rhapsode_contract import Variant

from rhapsode_conform.another import another
from rhapsode_conform.answer import Answer, as_list, as_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.form import FORM_TYPE, File, form
from rhapsode_conform.outcome import Finding, expect, skipped, undecided
from rhapsode_conform.subject import Subject
from rhapsode_conform.wave_file import wave_file

Source = dict[str, str | File]
"""The fields of a create that say what a voice is made of."""

MADE: Final = "conform-voice-1"
_CLIP_SECONDS: Final = 6.0
_MIDDLE_RATE_HZ: Final = 24_000


def clones(variant: Variant) -> bool:
    """Whether a variant makes voices from references."""
    return variant.cloning is not None and variant.cloning.supported


def blends(variant: Variant) -> bool:
    """Whether a variant makes voices from others."""
    return variant.blending is not None and variant.blending.supported


async def post(subject: Subject, **parts: str | File) -> Answer:
    """Asks for a voice."""
    return await subject.wire.send("POST", "/voices", form(**parts), FORM_TYPE)


async def clip_of(
    subject: Subject, *, is_octave_off: bool = False, is_backwards: bool = False
) -> File:
    """Returns a reference that the engine should take: its own voice, long enough.

    Args:
        subject: What is asked for it.
        is_octave_off: Whether it is as much higher as twice the rate makes it, and faster; lower
            where the engine's own rate is high already.
        is_backwards: Whether it is said backwards, for a clip that differs.

    Raises:
        Finding: It takes no WAV, so that we have nothing to offer.
    """
    _, variant = subject.variant_with(clones, "variant that clones")
    assert variant.cloning is not None
    if "wav" not in (variant.cloning.formats or ("wav",)):
        raise undecided("it takes no WAV as a reference, and we have nothing else")
    shortest, longest = variant.cloning.reference_seconds or (_CLIP_SECONDS, _CLIP_SECONDS)
    sound = await subject.sound()
    if is_octave_off:
        rate = sound.rate_hz * 2 if sound.rate_hz <= _MIDDLE_RATE_HZ else sound.rate_hz // 2
        sound = replace(sound, rate_hz=rate)
    seconds = min(max(_CLIP_SECONDS, shortest), longest)
    return File("clip.wav", wave_file(sound, seconds, is_backwards=is_backwards))


async def source_of(subject: Subject) -> Source:
    """Returns what a voice can be made of; nothing where there is nothing that we can offer."""
    if any(clones(each) for each in subject.variants.values()):
        with suppress(Finding):
            return await reference_of(subject)
    if subject.voices and any(blends(each) for each in subject.variants.values()):
        return {"blend": subject.voices[0]}
    return {}


async def reference_of(
    subject: Subject, *, is_octave_off: bool = False, is_backwards: bool = False
) -> Source:
    """Returns a clip and what is said in it; the arguments are those of `clip_of`.

    Raises:
        Finding: As `clip_of`.
    """
    clip = await clip_of(subject, is_octave_off=is_octave_off, is_backwards=is_backwards)
    return {"reference": clip, "transcript": _spoken_in_clip(subject)}


def _spoken_in_clip(subject: Subject) -> str:
    return subject.texts.sentence(subject.variants[subject.variant])


@asynccontextmanager
async def _made(subject: Subject) -> AsyncGenerator[Answer]:
    """Makes a voice for a block and takes it away afterwards; yields the answer to the create."""
    answer = await post(subject, id=MADE, label="Made", **await reference_of(subject))
    try:
        yield answer
    finally:
        await subject.wire.send("DELETE", f"/voices/{MADE}")


async def _listed(subject: Subject, voice_id: str) -> object:
    """Returns the voice as it is listed now; None where it is not."""
    voices = as_list((await subject.wire.get("/voices")).json)
    return next((each for each in voices if as_object(each).get("id") == voice_id), None)


@check("7.create.route", Need.CLONING)
async def route(subject: Subject) -> None:
    """Made, listed, spoken, deleted, gone."""
    async with _made(subject) as made:
        expect(made.status == 201, "a create answers 201 with the voice", made)
        listed = await _listed(subject, MADE)
        expect(made.json == listed, "the answer is the voice as it is listed", (made, listed))
        name, _ = subject.variant_with(clones, "variant that clones")
        spoken = await subject.speak(variant=name, voice=MADE)
        expect(spoken.is_audio, "a voice that was made speaks", spoken)
        gone = await subject.wire.send("DELETE", f"/voices/{MADE}")
        expect(gone.status == 204, "a delete answers 204", gone)
        expect(await _listed(subject, MADE) is None, "a deleted voice is not listed")
        after = await subject.speak(variant=name, voice=MADE)
        expect(after.is_refusal, "a deleted voice does not speak", after)


@check("7.create.label", Need.CLONING)
async def label(subject: Subject) -> None:
    """What a client shows of it."""
    async with _made(subject) as made:
        if made.status != 201:
            raise undecided("no voice was made; see 7.create.route")
        is_kept = made.object.get("label") == "Made"
        expect(is_kept, "a voice has the label that it was given", made.object)


@check("7.create.replaces", Need.CLONING)
async def replaces(subject: Subject) -> None:
    """The same id again is the same voice with another spec."""
    async with _made(subject) as made:
        other = await reference_of(subject, is_backwards=True)
        again = await post(subject, id=MADE, label="Made again", **other)
        expect(again.status == 201, "an id that exists is replaced", again)
        is_new = again.object.get("spec") != made.object.get("spec")
        expect(is_new, "the spec of a replaced voice changes", again)


@check("7.create.loads-nothing", Need.MAKING)
async def loads_nothing(subject: Subject) -> None:
    """No model is loaded for it, and the one that is loaded stays."""
    source = await source_of(subject)
    if not source:
        raise undecided("we have nothing to offer that it makes a voice of")
    await subject.unload()
    health = await _health_after_a_create(subject, source)
    expect(health.object.get("model") == "unloaded", "a create loads no model", health)
    subject.wait_on()
    if (await subject.load(subject.variant)).is_refusal:
        return  # 4.variants.loadable
    health = await _health_after_a_create(subject, source)
    expect(health.object.get("model") == "loaded", "a create evicts no model", health)


async def _health_after_a_create(subject: Subject, source: Source) -> Answer:
    await post(subject, id=MADE, label="Made", **source)
    health = await subject.wire.get("/health")
    await subject.wire.send("DELETE", f"/voices/{MADE}")
    return health


@check("7.create.kept", Need.SPAWNED, Need.MAKING)
async def kept(subject: Subject) -> None:
    """Made by one process, and listed by the next."""
    source = await source_of(subject)
    if not source:
        raise undecided("we have nothing to offer that it makes a voice of")
    body = form(id=MADE, label="Made", **source)
    subject.wait_on()  # a start takes its time
    async with another(subject) as (_, wire):
        made = await wire.send("POST", "/voices", body, FORM_TYPE)
        if made.status != 201:
            raise undecided(f"no voice was made: {made}")
    subject.wait_on()  # a start takes its time
    async with another(subject) as (_, wire):
        listed = await wire.get("/voices")
        await wire.send("DELETE", f"/voices/{MADE}")
    is_kept = made.json in as_list(listed.json)
    expect(is_kept, "a voice that was made is there as it was after a restart", listed)


@check("7.create.one-source", Need.CLONING)
async def one_source(subject: Subject) -> None:
    """Neither a reference nor a blend, and both."""
    neither = await post(subject, id=MADE, label="Made")
    clip = await clip_of(subject)
    name = next(iter(subject.voices), "a")
    both = await post(subject, id=MADE, label="Made", reference=clip, blend=name)
    for answer in (neither, both):
        expect(answer.code == "bad_request", "a create has exactly one source", answer)


@check("7.create.reference", Need.CLONING)
async def reference(subject: Subject) -> None:
    """A file of another type, and one of the right type with nothing in it."""
    kind = await post(subject, id=MADE, label="Made", reference=File("clip.exe", b"MZ"))
    expect(kind.code == "unsupported", "a reference of an unlisted type is `unsupported`", kind)
    clip = await clip_of(subject)
    wrong = File(clip.name, b"this is no recording of anybody")
    answer = await post(
        subject, id=MADE, label="Made", reference=wrong, transcript=_spoken_in_clip(subject)
    )
    is_refused = answer.code == "bad_request"
    expect(is_refused, "a reference with the wrong contents is `bad_request`", answer)


@check("7.create.transcript", Need.CLONING)
async def transcript(subject: Subject) -> None:
    """With the words spoken and without; who needs them says so."""
    with_it = await post(subject, id=MADE, label="Made", **await reference_of(subject))
    expect(with_it.status == 201, "every engine takes a transcript", with_it)
    without = await post(subject, id=MADE, label="Made", reference=await clip_of(subject))
    await subject.wire.send("DELETE", f"/voices/{MADE}")
    is_told = without.code == "bad_request" and "transcript" in without.message
    is_fine = without.status == 201 or is_told
    expect(is_fine, "without a transcript it is made, or the message names the field", without)


@check("7.create.impossible")
async def impossible(subject: Subject) -> None:
    """What no variant does is `unsupported`."""
    asked: list[Answer] = []
    if not any(clones(each) for each in subject.variants.values()):
        silence = File("clip.wav", b"RIFF")
        asked.append(await post(subject, id=MADE, label="Made", reference=silence))
    if not any(blends(each) for each in subject.variants.values()):
        name = next(iter(subject.voices), "a")
        asked.append(await post(subject, id=MADE, label="Made", blend=name))
    if not asked:
        raise skipped("it makes voices in every way there is")
    for answer in asked:
        is_refused = answer.code == "unsupported"
        expect(is_refused, "a voice it cannot make that way is `unsupported`", answer)


@check("4.blending.absent", Need.NO_BLENDING)
async def blending_absent(subject: Subject) -> None:
    """Who says nothing of blending does not blend."""
    if any(blends(each) for each in subject.variants.values()):
        raise skipped("another variant blends, and a create names none")
    name = next(iter(subject.voices), "a")
    answer = await post(subject, id=MADE, label="Made", blend=f"{name}(1)")
    is_refusal = answer.is_refusal
    if not is_refusal:
        await subject.wire.send("DELETE", f"/voices/{MADE}")
    expect(is_refusal, "no variant says that it blends, and a blend was made", answer)


class _Command:
    """Unpickled, it makes a file."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return (Path.touch, (self._mark,))


@check("7.create.never-unpickled")
async def never_unpickled(subject: Subject) -> None:
    """A pickle that would leave a mark leaves none. Seen only on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        mark = Path(folder) / "it-was-run"
        poison = pickle.dumps(_Command(mark))
        for name in ("voice.pt", "voice.npy", "voice.wav"):
            answer = await post(subject, id=MADE, label="Made", reference=File(name, poison))
            expect(answer.is_refusal, "a pickle is no reference", answer)
            expect(not mark.exists(), f"what {name} held was run", "its mark is there")
