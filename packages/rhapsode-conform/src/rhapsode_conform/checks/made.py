"""Whether a voice that was made is what it was made of (contract § 7)."""

from typing import Final

from rhapsode_conform.check import Need, check
from rhapsode_conform.checks.creating import (
    MADE,
    Source,
    blends,
    clones,
    post,
    reference_of,
)
from rhapsode_conform.checks.voices import apart
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import Sound, is_different
from rhapsode_conform.subject import SEED, Subject

_PART: Final = "conform-voice-2"
"""A voice that another one is made of."""


@check("7.create.heard", Need.CLONING)
async def clone_heard(subject: Subject) -> None:
    """References that are an octave apart make voices that differ."""
    name, _ = subject.variant_with(clones, "variant that clones")
    references = [await reference_of(subject, is_octave_off=is_off) for is_off in (False, True)]
    one, other = await _made_of(subject, name, references)
    seen = "the same audio from one and from another, an octave off"
    expect(is_different(one, other), "a voice is made of its reference", seen)


@check("7.blend.weights", Need.BLENDING, Need.TWO_VOICES)
async def weights_heard(subject: Subject) -> None:
    """Much of one voice and little of another is not little of the one and much of the other."""
    name, _ = subject.variant_with(blends, "variant that blends")
    a, b = await _two_apart(subject)
    recipes = (f"{a}(9)+{b}", f"{a}+{b}(9)")
    one, other = await _made_of(subject, name, [{"blend": recipe} for recipe in recipes])
    seen = f"the same audio from {recipes[0]} and {recipes[1]}"
    expect(is_different(one, other), "a blend has as much of each voice as its weight says", seen)


@check("7.blend.recipe", Need.BLENDING, Need.VOICES)
async def recipe(subject: Subject) -> None:
    """Weights, one left out, twice as much of all, and the recipes that are none."""
    one, *others = subject.voices
    if others:  # of one voice alone a worker need not make another
        right = f"{one}(2)+{others[0]}"
        good = await post(subject, id=MADE, label="Made", blend=right)
        await subject.wire.send("DELETE", f"/voices/{MADE}")
        expect(good.status == 201, f"the recipe {right} makes a voice", good)
    for wrong in (f"{one}(0)", f"{one}(-1)", f"{one}(", "+"):
        answer = await post(subject, id=MADE, label="Made", blend=wrong)
        expect(answer.code == "bad_request", f"the recipe {wrong!r} is `bad_request`", answer)
    answer = await post(subject, id=MADE, label="Made", blend=f"{one}+no-such-voice-1")
    expect(answer.code == "unknown_voice", "a recipe of an unknown voice is refused so", answer)
    name, _ = subject.variant_with(blends, "variant that blends")
    if others and await subject.reproduces(name):
        await _expect_scaled(subject, name, one, others[0])


async def _expect_scaled(subject: Subject, variant: str, a: str, b: str) -> None:
    recipes = (f"{a}+{b}", f"{a}(0.25)+{b}(0.25)")
    one, other = await _made_of(subject, variant, [{"blend": each} for each in recipes])
    seen = f"other audio from {recipes[0]} and {recipes[1]}"
    expect(not is_different(one, other), "the weights of a blend are scaled to sum to 1", seen)


@check("7.blend.fixed", Need.BLENDING, Need.TWO_VOICES)
async def blend_fixed(subject: Subject) -> None:
    """A blend of a voice that was made, which is then made anew, and then taken away."""
    name, _ = subject.variant_with(blends, "variant that blends")
    a, b = await _two_apart(subject)
    try:
        await _make(subject, _PART, {"blend": f"{a}(9)+{b}"})
        await _make(subject, MADE, {"blend": f"{_PART}(9)+{b}"})
        at_first = await _spoken(subject, name)
        await _make(subject, _PART, {"blend": f"{a}+{b}(9)"})
        later = await _spoken(subject, name)
        seen = f"other audio of {_PART}(9)+{b} once {_PART} was made anew"
        expect(not is_different(at_first, later), "a blend stays as it was made", seen)
        await subject.wire.send("DELETE", f"/voices/{_PART}")
        last = await subject.speak(variant=name, voice=MADE, seed=SEED, format=subject.sampled)
        expect(last.is_audio, "a blend outlives a voice that it was made of", last)
        seen = f"other audio of {_PART}(9)+{b} once {_PART} was taken away"
        expect(not is_different(at_first, as_sound(last)), "a blend stays as it was made", seen)
    finally:
        for voice_id in (MADE, _PART):
            await subject.wire.send("DELETE", f"/voices/{voice_id}")


async def _two_apart(subject: Subject) -> tuple[str, str]:
    """Returns two voices that do not sound alike.

    Raises:
        Finding: There are none.
    """
    two = await apart(subject) if await subject.reproduces() else None
    if two is None:
        raise undecided("no two of its voices can be told apart; see 7.voices.distinct")
    return two


async def _made_of(subject: Subject, variant: str, sources: list[Source]) -> list[Sound]:
    """Returns what a voice sounds like that is made of each source in turn, under one id.

    Raises:
        Finding: It was not made or not spoken, or sounds otherwise every time.
    """
    sounds: list[Sound] = []
    try:
        for source in sources:
            await _make(subject, MADE, source)
            sounds.append(await _spoken(subject, variant))
    finally:
        await subject.wire.send("DELETE", f"/voices/{MADE}")
    return sounds


async def _make(subject: Subject, voice_id: str, source: Source) -> None:
    made = await post(subject, id=voice_id, label="Made", **source)
    if made.status != 201:
        raise undecided(f"a voice could not be made: {made}")


async def _spoken(subject: Subject, variant: str) -> Sound:
    """Returns what the voice that was made sounds like now.

    Raises:
        Finding: It was not spoken, or sounds otherwise every time.
    """
    if not await subject.reproduces(variant):
        raise undecided(f"the same request with a seed gave other audio from {variant}")
    subject.wait_on()
    # Never one that is kept: the same request may be meant to be answered otherwise.
    spoken = await subject.speak(variant=variant, voice=MADE, seed=SEED, format=subject.sampled)
    if not spoken.is_audio:
        raise undecided("a voice that was made was not spoken; see 7.create.route")
    return as_sound(spoken)
