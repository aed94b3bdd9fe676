"""Conversations made in one pass (contract § 6, "Dialogue")."""

from rhapsode_contract import Variant

from rhapsode_conform.answer import Answer, as_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.outcome import expect
from rhapsode_conform.subject import Subject
from rhapsode_conform.texts import long_text_for, sentence_for


def performs(variant: Variant) -> bool:
    """Whether a variant declares dialogue."""
    return variant.dialogue is not None


async def _talk(subject: Subject, *, performing: bool = True, **fields: object) -> Answer:
    """Asks for two turns of two speakers, with `fields` over it; None leaves a field out."""
    what = "variant with dialogue" if performing else "variant without dialogue"
    name, variant = subject.variant_with(lambda each: performs(each) is performing, what)
    text = sentence_for(variant)
    turns = [{"speaker": speaker, "text": text} for speaker in ("a", "b")]
    body = {"turns": turns, "variant": name, **fields}
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
