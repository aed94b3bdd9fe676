"""Conversations made in one pass (contract § 6, "Dialogue")."""

import json
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Final

from rhapsode_contract import Variant

from rhapsode_conform.answer import Answer, as_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.checks.speaking import longer_than
from rhapsode_conform.checks.voices import apart
from rhapsode_conform.claims import Fields, cues_told, dials_told, languages_told, readings_of
from rhapsode_conform.outcome import expect, skipped, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import DIFFERENT_MS, Sound, is_different
from rhapsode_conform.subject import SEED, Subject

_TURNS: Final = 2
_CROWD: Final = 8
"""As many turns as are asked for at the most, however many speakers are declared."""
_CROWD_LEAST: Final = 3
_TURN_CHARACTERS: Final = 5
"""Less than this is no turn of a crowd."""


def performs(variant: Variant) -> bool:
    """Whether a variant declares dialogue."""
    return variant.dialogue is not None


def _speakers(variant: Variant, turns: int) -> list[str]:
    """Returns who has each of so many turns, as many as the variant allows."""
    most = variant.dialogue.max_speakers if variant.dialogue is not None else turns
    return list(islice(cycle(f"s{number}" for number in range(max(1, min(most, turns)))), turns))


def _turns(
    subject: Subject, variant: Variant, speakers: Sequence[str], *, of: int = 0
) -> list[dict[str, str]]:
    """Returns a sentence for each, the same one, as long as the limit allows for all of them.

    Args:
        subject: Who is asked.
        variant: Its variant.
        speakers: Whose turns they are.
        of: How many turns share the limit, where they are more than these.

    Raises:
        Finding: The limit leaves nothing to say for some of them.
    """
    count = max(of, len(speakers))
    text = subject.texts.shared(variant, count)
    if not text:
        raise undecided(f"`maxCharacters` is too small for {count} turns")
    return [{"speaker": speaker, "text": text} for speaker in speakers]


async def _talk(subject: Subject, fields: Mapping[str, object]) -> Answer:
    """Asks for two turns of two speakers, with `fields` over it; None leaves a field out."""
    name, variant = subject.variant_with(performs, "variant with dialogue")
    return await _ask(subject, name, variant, fields)


async def _ask(
    subject: Subject, name: str, variant: Variant, fields: Mapping[str, object]
) -> Answer:
    body = {"variant": name, **subject.in_a_format, **fields}
    if "turns" not in body:
        body["turns"] = _turns(subject, variant, _speakers(variant, _TURNS))
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
        answer = await _talk(subject, {})
        expect(answer.is_audio, "dialogue is declared and performed", answer)


@check("6.dialogue.undeclared", Need.NO_DIALOGUE)
async def undeclared(subject: Subject) -> None:
    """What is not declared is `unsupported`."""
    name, variant = subject.variant_with(
        lambda each: not performs(each), "variant without dialogue"
    )
    answer = await _ask(subject, name, variant, {})
    expect(answer.code == "unsupported", "a variant without dialogue answers so", answer)


@check("6.dialogue.turns", Need.DIALOGUE)
async def turns(subject: Subject) -> None:
    """At least one turn, each whole."""
    for wrong in (None, [], [{"speaker": "a"}], [{"text": "Rain."}]):
        answer = await _talk(subject, {"turns": wrong})
        expect(answer.code == "bad_request", f"`turns: {wrong}` is `bad_request`", answer)


@check("6.dialogue.every-turn", Need.DIALOGUE)
async def every_turn(subject: Subject) -> None:
    """Two turns are longer than one of them, and the last of several is heard."""
    _, variant = subject.variant_with(performs, "variant with dialogue")
    both, one = await _takes(subject, _speakers(variant, _TURNS))
    seen = f"two turns sound {both.duration_ms:.0f} ms, and one of them {one.duration_ms:.0f}"
    is_longer = both.duration_ms > one.duration_ms + DIFFERENT_MS
    expect(is_longer, "every turn of a dialogue is spoken", seen)
    assert variant.dialogue is not None
    wanted = max(_CROWD_LEAST, variant.dialogue.max_speakers)
    count = min(wanted, _CROWD, variant.character_limit // _TURN_CHARACTERS)
    if count > _TURNS:
        whole, but_one = await _takes(subject, _speakers(variant, count))
        seen = "the same audio without it"
        expect(is_different(whole, but_one), f"the last of {count} turns is spoken", seen)


async def _takes(subject: Subject, speakers: Sequence[str]) -> tuple[Sound, Sound]:
    """Returns a turn of each, and the same without the last, in one voice where there is one."""
    takes: list[Sound] = []
    for some in (speakers, speakers[:-1]):
        voices = {speaker: voice for voice in subject.voices[:1] for speaker in some}
        takes.append(await _take(subject, some, voices, of=len(speakers)))
    return takes[0], takes[1]


@check("6.dialogue.speakers", Need.DIALOGUE, Need.TWO_VOICES)
async def heard_speakers(subject: Subject) -> None:
    """Each of two speakers is heard in the voice that it is given."""
    _, variant = subject.variant_with(performs, "variant with dialogue")
    speakers = _speakers(variant, _TURNS)
    two = await apart(subject) if await subject.reproduces() else None
    if two is None:
        raise undecided("no two of its voices can be told apart; see 7.voices.distinct")
    voice, other = two
    alike = await _take(subject, speakers, dict.fromkeys(speakers, voice))
    for speaker in dict.fromkeys(speakers):
        voices = dict.fromkeys(speakers, voice) | {speaker: other}
        is_heard = is_different(alike, await _take(subject, speakers, voices))
        seen = f"the same audio with {voice!r} for {speaker!r} and with {other!r}"
        expect(is_heard, "a speaker has the voice that `voices` gives it", seen)


async def _take(
    subject: Subject, speakers: Sequence[str], voices: dict[str, str], *, of: int = 0
) -> Sound:
    """Returns what a turn of each speaker sounds like; see `_sound_of`."""
    _, variant = subject.variant_with(performs, "variant with dialogue")
    turns = _turns(subject, variant, speakers, of=of)
    return await _sound_of(subject, {"turns": turns, "voices": voices})


async def _sound_of(subject: Subject, fields: Mapping[str, object]) -> Sound:
    """Returns what a dialogue sounds like, asking once for each that is the same.

    Raises:
        Finding: It was not spoken, or sounds otherwise every time.
    """

    async def ask() -> Sound:
        subject.wait_on()
        answer = await _talk(subject, {**fields, "seed": SEED, "format": subject.sampled})
        if not answer.is_audio:
            raise undecided("it was not spoken; see 4.dialogue.declared")
        return as_sound(answer)

    sound = await subject.once(f"dialogue {json.dumps(fields, sort_keys=True)}", ask)

    async def reproduces() -> bool:
        return not is_different(sound, await ask())

    if not await subject.once("dialogue reproduces", reproduces):
        raise undecided("the same dialogue with the same seed gave other audio")
    return sound


@check("6.dialogue.no-voice", Need.DIALOGUE)
async def no_voice(subject: Subject) -> None:
    """Nobody has to be given a voice."""
    nobody: dict[str, str] = {}
    for voices in (None, nobody):
        answer = await _talk(subject, {"voices": voices})
        expect(answer.is_audio, "speakers without voices are spoken", answer)


@check("6.dialogue.unknown-voice", Need.DIALOGUE)
async def unknown_voice(subject: Subject) -> None:
    """A voice that is not there."""
    answer = await _talk(subject, {"voices": {"s0": "no-such-voice-1"}})
    expect(answer.code == "unknown_voice", "an unknown voice is `unknown_voice`", answer)


@check("6.dialogue.unused-label", Need.DIALOGUE, Need.VOICES)
async def unused_label(subject: Subject) -> None:
    """A voice for somebody who says nothing."""
    answer = await _talk(subject, {"voices": {"nobody": subject.voices[0]}})
    expect(answer.code == "bad_request", "a label that no turn uses is `bad_request`", answer)


@check("6.dialogue.too-many-speakers", Need.DIALOGUE)
async def too_many(subject: Subject) -> None:
    """One speaker more than is declared."""
    _, variant = subject.variant_with(performs, "variant with dialogue")
    assert variant.dialogue is not None
    crowd = [f"s{number}" for number in range(variant.dialogue.max_speakers + 1)]
    answer = await _talk(subject, {"turns": _turns(subject, variant, crowd)})
    expect(answer.code == "unsupported", "more speakers than declared is `unsupported`", answer)


@check("6.dialogue.budget", Need.DIALOGUE)
async def budget(subject: Subject) -> None:
    """Two turns that fit, and together do not."""
    _, variant = subject.variant_with(performs, "variant with dialogue")
    text = longer_than(subject, variant, variant.character_limit * 3 // 4)
    speakers = _speakers(variant, _TURNS)
    long_turns = [{"speaker": speaker, "text": text} for speaker in speakers]
    answer = await _talk(subject, {"turns": long_turns})
    expect(answer.code == "bad_request", "`maxCharacters` bounds the sum of all turns", answer)


@check("6.dialogue.cues", Need.DIALOGUE)
async def heard_cues(subject: Subject) -> None:
    """Each cue that a text shows is heard in one turn or another, and one in each."""
    name, variant = subject.variant_with(performs, "variant with dialogue")
    if not variant.cues:
        raise skipped("the variant with dialogue claims no cues")
    cues = await cues_told(subject, name, variant) if await subject.reproduces(name) else []
    if not cues:
        raise undecided("no cue is heard in a text; see 5.cues.claimed-subset")
    speakers = _speakers(variant, _TURNS)
    spare = max(len(f" [{cue}]") for cue in cues)
    text = subject.texts.shared(variant, _TURNS, spare=spare)
    if not text:
        raise undecided("`maxCharacters` leaves no room for a cue")
    plain = [{"speaker": speaker, "text": text} for speaker in speakers]
    without = await _sound_of(subject, {"turns": plain})
    for number in range(max(_TURNS, len(cues))):
        cue, turn = cues[number % len(cues)], number % _TURNS
        marked = [*plain]
        marked[turn] = {**plain[turn], "text": f"{text} [{cue}]"}
        is_heard = is_different(without, await _sound_of(subject, {"turns": marked}))
        why = f"[{cue}] is claimed, and performed in turn {turn + 1} of {_TURNS}"
        expect(is_heard, why, "the same audio without it")


@check("6.dialogue.no-delivery", Need.DIALOGUE)
async def no_delivery(subject: Subject) -> None:
    """`delivery` is no field of it."""
    answer = await _talk(subject, {"delivery": "hushed"})
    expect(answer.code == "bad_request", "a dialogue has no delivery", answer)


@check("6.dialogue.as-speak", Need.DIALOGUE)
async def as_speak(subject: Subject) -> None:
    """What `/speak` refuses is refused, a format and the ways to stream are answered, and dials and
    languages that are heard there are heard here."""
    name, variant = subject.variant_with(performs, "variant with dialogue")
    wrong: list[dict[str, object]] = [
        {"noSuchField": 1},
        {"params": {"noSuchDial": 0.5}},
        {"seed": "no number"},
        {"variant": "no-such-variant-1"},
        {"format": "no-such-format"},
        {"language": "x-nowhere"},
        *({"params": {dial: each.max + 1}} for dial, each in islice(variant.dials.items(), 1)),
    ]
    for fields in wrong:
        alone = await subject.asked(**{"variant": name, **fields})
        answer = await _talk(subject, fields)
        is_same = answer.code == alone.code or not alone.is_refusal
        expect(is_same, f"a dialogue with {fields} is `{alone.code}`, as a text is", answer)
    await _expect_answered(subject, name)
    await _expect_heard(subject, name, variant)


async def _expect_answered(subject: Subject, name: str) -> None:
    """Goes on where a format and the ways to stream are answered as to a text."""
    form = next((each for each in subject.formats if each != "wav"), "wav")
    alone = await subject.asked(variant=name, format=form)
    answer = await _talk(subject, {"format": form})
    is_same = answer.is_audio and answer.content_type == alone.content_type
    expect(is_same or not alone.is_audio, f"a dialogue is answered in {form}", answer)
    for streams in (True, False):
        alone = await subject.asked(variant=name, stream=streams)
        answer = await _talk(subject, {"stream": streams})
        is_same = answer.is_audio and _is_whole(answer) is _is_whole(alone)
        why = f"with `stream: {str(streams).lower()}` a dialogue is sent as a text is"
        expect(is_same or not alone.is_audio, why, answer.headers)


async def _expect_heard(subject: Subject, name: str, variant: Variant) -> None:
    """Goes on where some dial and some language of those that a text shows is heard here too.

    Raises:
        Finding: None is, or it cannot be told.
    """
    if not variant.dials and not readings_of(variant, subject.texts):
        return
    if not await subject.reproduces(name):
        raise undecided(f"the same request with a seed gave other audio from {name}")
    for kind, pairs in (
        ("params", await dials_told(subject, name, variant)),
        ("language", await languages_told(subject, name, variant)),
    ):
        is_heard = not pairs
        for pair in pairs:
            one, other = [await _sound_of(subject, _as_a_turn(fields)) for fields in pair]
            is_heard = is_heard or is_different(one, other)
        seen = f"the same audio as without: {[fields for _, fields in pairs]}"
        expect(is_heard, f"`{kind}` mean in a dialogue what they mean to a text", seen)


def _as_a_turn(fields: Fields) -> Fields:
    rest = {name: value for name, value in fields.items() if name != "text"}
    return {"turns": [{"speaker": "s0", "text": fields["text"]}], **rest}


def _is_whole(answer: Answer) -> bool:
    return answer.header("content-length") is not None
