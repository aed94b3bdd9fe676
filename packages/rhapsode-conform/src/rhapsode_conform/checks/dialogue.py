"""Conversations made in one pass (contract § 6, "Dialogue")."""

from collections.abc import Sequence
from typing import Final

from rhapsode_contract import Variant

from rhapsode_conform.answer import Answer, as_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.checks.voices import apart
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import DIFFERENT_MS, Sound, is_different
from rhapsode_conform.subject import SEED, Subject
from rhapsode_conform.texts import long_text_for, sentence_for

_SPEAKERS: Final[tuple[str, ...]] = ("a", "b")


def performs(variant: Variant) -> bool:
    """Whether a variant declares dialogue."""
    return variant.dialogue is not None


def _turns(variant: Variant, *speakers: str) -> list[dict[str, str]]:
    """Returns a sentence for each, the same one."""
    return [{"speaker": speaker, "text": sentence_for(variant)} for speaker in speakers]


async def _talk(subject: Subject, *, performing: bool = True, **fields: object) -> Answer:
    """Asks for two turns of two speakers, with `fields` over it; None leaves a field out."""
    what = "variant with dialogue" if performing else "variant without dialogue"
    name, variant = subject.variant_with(lambda each: performs(each) is performing, what)
    body = {"turns": _turns(variant, *_SPEAKERS), "variant": name, **fields}
    kept = {key: value for key, value in body.items() if value is not None}
    return await subject.wire.post("/dialogue", kept)


@check("4.dialogue.declared")
async def declared(subject: Subject) -> None:
    """What is declared has a number of speakers, and is performed."""
    for name, fields in as_object(subject.document.get("variants")).items():
        if "dialogue" in as_object(fields):
            most = as_object(as_object(fields)["dialogue"]).get("maxSpeakers")
            is_number = isinstance(most, int) and most >= 1
            expect(is_number, f"`{name}.dialogue.maxSpeakers` is a number", fields)
    if any(performs(each) for each in subject.variants.values()):
        answer = await _talk(subject)
        expect(answer.is_audio, "dialogue is declared and performed", answer)


@check("6.dialogue.undeclared", Need.NO_DIALOGUE)
async def undeclared(subject: Subject) -> None:
    """What is not declared is `unsupported`."""
    answer = await _talk(subject, performing=False)
    expect(answer.code == "unsupported", "a variant without dialogue answers so", answer)


@check("6.dialogue.turns", Need.DIALOGUE)
async def turns(subject: Subject) -> None:
    """At least one turn, each whole."""
    for wrong in (None, [], [{"speaker": "a"}], [{"text": "Rain."}]):
        answer = await _talk(subject, turns=wrong)
        expect(answer.code == "bad_request", f"`turns: {wrong}` is `bad_request`", answer)


@check("6.dialogue.every-turn", Need.DIALOGUE)
async def every_turn(subject: Subject) -> None:
    """Two turns are longer than one of them."""
    voices: dict[str, str] = {}
    if subject.voices:
        voices = dict.fromkeys(_SPEAKERS, subject.voices[0])
    both = await _take(subject, _SPEAKERS, voices)
    one = await _take(
        subject, _SPEAKERS[:1], {name: voices[name] for name in voices if name == "a"}
    )
    seen = f"two turns sound {both.duration_ms:.0f} ms, and one of them {one.duration_ms:.0f}"
    is_longer = both.duration_ms > one.duration_ms + DIFFERENT_MS
    expect(is_longer, "every turn of a dialogue is spoken", seen)


@check("6.dialogue.speakers", Need.DIALOGUE, Need.TWO_VOICES)
async def speakers(subject: Subject) -> None:
    """Each of two speakers is heard in the voice that it is given."""
    two = await apart(subject) if await subject.reproduces() else None
    if two is None:
        raise undecided("no two of its voices can be told apart; see 7.voices.distinct")
    voice, other = two
    alike = await _take(subject, _SPEAKERS, dict.fromkeys(_SPEAKERS, voice))
    for speaker in _SPEAKERS:
        voices = dict.fromkeys(_SPEAKERS, voice) | {speaker: other}
        is_heard = is_different(alike, await _take(subject, _SPEAKERS, voices))
        seen = f"the same audio with {voice!r} for {speaker!r} and with {other!r}"
        expect(is_heard, "a speaker has the voice that `voices` gives it", seen)


async def _take(subject: Subject, speakers: Sequence[str], voices: dict[str, str]) -> Sound:
    """Returns what a turn of each speaker sounds like, asking once for each that is the same.

    Raises:
        Finding: It was not spoken, or sounds otherwise every time.
    """
    _, variant = subject.variant_with(performs, "variant with dialogue")
    turns = _turns(variant, *speakers)

    async def ask() -> Sound:
        answer = await _talk(subject, turns=turns, voices=voices, seed=SEED, format=subject.sampled)
        if not answer.is_audio:
            raise undecided("it was not spoken; see 4.dialogue.declared")
        return as_sound(answer)

    sound = await subject.once(f"dialogue {turns} {voices}", ask)

    async def reproduces() -> bool:
        return sound.pcm == (await ask()).pcm

    if not await subject.once("dialogue reproduces", reproduces):
        raise undecided("the same dialogue with the same seed gave other audio")
    return sound


@check("6.dialogue.no-voice", Need.DIALOGUE)
async def no_voice(subject: Subject) -> None:
    """Nobody has to be given a voice."""
    nobody: dict[str, str] = {}
    for voices in (None, nobody):
        answer = await _talk(subject, voices=voices)
        expect(answer.is_audio, "speakers without voices are spoken", answer)


@check("6.dialogue.unknown-voice", Need.DIALOGUE)
async def unknown_voice(subject: Subject) -> None:
    """A voice that is not there."""
    answer = await _talk(subject, voices={"a": "no-such-voice-1"})
    expect(answer.code == "unknown_voice", "an unknown voice is `unknown_voice`", answer)


@check("6.dialogue.unused-label", Need.DIALOGUE, Need.VOICES)
async def unused_label(subject: Subject) -> None:
    """A voice for somebody who says nothing."""
    answer = await _talk(subject, voices={"nobody": subject.voices[0]})
    expect(answer.code == "bad_request", "a label that no turn uses is `bad_request`", answer)


@check("6.dialogue.too-many-speakers", Need.DIALOGUE)
async def too_many(subject: Subject) -> None:
    """One speaker more than is declared."""
    _, variant = subject.variant_with(performs, "variant with dialogue")
    assert variant.dialogue is not None
    text = sentence_for(variant)
    crowd = [{"speaker": f"s{i}", "text": text} for i in range(variant.dialogue.max_speakers + 1)]
    answer = await _talk(subject, turns=crowd)
    expect(answer.code == "unsupported", "more speakers than declared is `unsupported`", answer)


@check("6.dialogue.budget", Need.DIALOGUE)
async def budget(subject: Subject) -> None:
    """Two turns that fit, and together do not."""
    _, variant = subject.variant_with(performs, "variant with dialogue")
    text = long_text_for(variant, variant.character_limit * 3 // 4)
    long_turns = [{"speaker": speaker, "text": text} for speaker in ("a", "b")]
    answer = await _talk(subject, turns=long_turns)
    expect(answer.code == "bad_request", "`maxCharacters` bounds the sum of all turns", answer)


@check("6.dialogue.no-delivery", Need.DIALOGUE)
async def no_delivery(subject: Subject) -> None:
    """`delivery` is no field of it."""
    answer = await _talk(subject, delivery="hushed")
    expect(answer.code == "bad_request", "a dialogue has no delivery", answer)
