"""Whether a voice that was made is what it was made of (contract § 7)."""

from rhapsode_conform.check import Need, check
from rhapsode_conform.checks.creating import MADE, blends, clip_of, clones, post, spoken_in_clip
from rhapsode_conform.checks.voices import apart
from rhapsode_conform.form import File
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import Sound, is_different
from rhapsode_conform.subject import SEED, Subject


@check("7.create.heard", Need.CLONING)
async def clone_heard(subject: Subject) -> None:
    """References that are an octave apart make voices that differ."""
    name, _ = subject.variant_with(clones, "variant that clones")
    clips = [await clip_of(subject, is_octave_off=is_off) for is_off in (False, True)]
    one, other = await _made_of(
        subject,
        name,
        [{"reference": clip, "transcript": spoken_in_clip(subject)} for clip in clips],
    )
    seen = "the same audio from one and from another, an octave off"
    expect(is_different(one, other), "a voice is made of its reference", seen)


@check("7.blend.weights", Need.BLENDING, Need.TWO_VOICES)
async def weights_heard(subject: Subject) -> None:
    """Much of one voice and little of another is not little of the one and much of the other."""
    name, _ = subject.variant_with(blends, "variant that blends")
    two = await apart(subject) if await subject.reproduces() else None
    if two is None:
        raise undecided("no two of its voices can be told apart; see 7.voices.distinct")
    a, b = two
    recipes = (f"{a}(9)+{b}", f"{a}+{b}(9)")
    one, other = await _made_of(subject, name, [{"blend": recipe} for recipe in recipes])
    seen = f"the same audio from {recipes[0]} and {recipes[1]}"
    expect(is_different(one, other), "a blend has as much of each voice as its weight says", seen)


async def _made_of(
    subject: Subject, variant: str, sources: list[dict[str, str | File]]
) -> list[Sound]:
    """Returns what a voice sounds like that is made of each source in turn, under one id.

    Raises:
        Finding: It was not made or not spoken, or sounds otherwise every time.
    """
    if not await subject.reproduces(variant):
        raise undecided(f"the same request with a seed gave other audio from {variant}")
    sounds: list[Sound] = []
    try:
        for source in sources:
            made = await post(subject, id=MADE, label="Made", **source)
            if made.status != 201:
                raise undecided(f"a voice could not be made: {made}")
            # Never one that is kept: the same request is meant to be answered otherwise.
            spoken = await subject.speak(
                variant=variant, voice=MADE, seed=SEED, format=subject.sampled
            )
            if not spoken.is_audio:
                raise undecided("a voice that was made was not spoken; see 7.create.route")
            sounds.append(as_sound(spoken))
    finally:
        await subject.wire.send("DELETE", f"/voices/{MADE}")
    return sounds
