"""Dials: the numbers that a variant lets a request turn (contract § 6, `params`)."""

from typing import Final

from rhapsode_contract import Dial, Variant

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.checks.creating import MADE, clones, post, reference_of
from rhapsode_conform.claims import listen, sound_of
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import Sound, is_different
from rhapsode_conform.subject import SEED, Subject

_NO_DIAL: Final = "noSuchDial"
_SEVERAL_CHARACTERS: Final = 200
"""Some sentences: what a dial that turns what lies between them is heard in."""


@check("6.params.by-dials", Need.DIALS)
async def by_dials(subject: Subject) -> None:
    """Both ends of each dial of each variant are accepted."""
    for name, variant in subject.variants.items():
        for dial, limits in variant.dials.items():
            for end in (limits.min, limits.max):
                answer = await subject.claimed(name, params={dial: end})
                expect(answer.is_audio, f"both ends of {name!r}'s {dial!r} are accepted", answer)


@check("6.params.heard", Need.DIALS)
async def heard(subject: Subject) -> None:
    """Some dial of each variant is heard; of the others it is told that they are not."""
    silent: list[str] = []

    async def look(name: str, variant: Variant) -> None:
        dials = _that_turn(variant)
        dead = [dial for dial in dials if not await _is_heard(subject, name, variant, dial)]
        if dead == dials:
            found = await _heard_elsewhere(subject, name, variant)
            seen = f"the same audio at both ends of {', '.join(dead)} as at rest"
            expect(found is not None, f"what is turned on {name!r} is heard", seen)
            dead = [dial for dial in dead if dial != found]
        silent.extend(dead)

    await listen(subject, _that_turn, look)
    if silent:
        # One may need another: how fast a voice trembles that does not tremble is not heard.
        raise undecided(f"both ends of {', '.join(silent)} are accepted and sound the same")


def _that_turn(variant: Variant) -> list[str]:
    return [dial for dial, limits in variant.dials.items() if limits.min < limits.max]


async def _is_heard(subject: Subject, name: str, variant: Variant, dial: str) -> bool:
    """Whether either end of a dial changes a sentence, or else several."""
    limits = variant.dials[dial]
    texts = subject.texts
    for text in (texts.sentence(variant), texts.long(variant, _SEVERAL_CHARACTERS)):
        at_rest = await sound_of(subject, name, text=text)
        for end in (limits.min, limits.max):
            if is_different(at_rest, await sound_of(subject, name, text=text, params={dial: end})):
                return True
    return False


def _ends(variant: Variant) -> list[tuple[str, float]]:
    """Returns each dial of a variant with each of its ends."""
    return [
        (dial, end)
        for dial in _that_turn(variant)
        for end in (variant.dials[dial].min, variant.dials[dial].max)
    ]


async def _heard_elsewhere(subject: Subject, name: str, variant: Variant) -> str | None:
    """Returns a dial that changes a delivery, a cue or a cloned voice: it may act on those alone.

    None where none does.
    """
    pairs = [subject.texts.with_cue(variant, cue) for cue in variant.cues]
    cues = [{"text": pair[1]} for pair in pairs if pair is not None]
    for fields in [*({"delivery": each} for each in variant.deliveries), *cues]:
        at_rest = await sound_of(subject, name, **fields)
        for dial, end in _ends(variant):
            turned = await sound_of(subject, name, **fields, params={dial: end})
            if is_different(at_rest, turned):
                return dial
    return await _heard_in_a_clone(subject, name, variant) if clones(variant) else None


async def _heard_in_a_clone(subject: Subject, name: str, variant: Variant) -> str | None:
    """Returns a dial that changes a voice that is made for it, and taken away afterwards."""

    async def spoken(**fields: object) -> Sound:
        subject.wait_on()
        answer = await subject.speak(
            variant=name, voice=MADE, seed=SEED, format=subject.sampled, **fields
        )
        if not answer.is_audio:
            raise undecided("a voice that was made was not spoken; see 7.create.route")
        return as_sound(answer)

    made = await post(subject, id=MADE, label="Made", **await reference_of(subject))
    try:
        if made.status != 201:
            raise undecided("no voice was made that the dials may act on; see 7.create.route")
        at_rest = await spoken()
        for dial, end in _ends(variant):
            if is_different(at_rest, await spoken(params={dial: end})):
                return dial
        return None
    finally:
        await subject.wire.send("DELETE", f"/voices/{MADE}")


@check("6.params.unknown")
async def unknown(subject: Subject) -> None:
    """On each variant, a dial that none has and each that only another one has."""
    assert subject.variant is not None  # or it comes to a finding
    anywhere = {
        dial: limits.default
        for each in subject.variants.values()
        for dial, limits in each.dials.items()
    }
    for name, variant in subject.variants.items():
        for dial, value in {_NO_DIAL: 0.5, **anywhere}.items():
            if dial in variant.dials:
                continue
            subject.wait_on()  # one that ignores it loads the variant first
            answer = await _turned(subject, name, dial, value)
            is_named = answer.code == "bad_request" and dial in answer.message
            expect(is_named, f"{name!r} has no dial {dial!r}: `bad_request` naming it", answer)


@check("8.checks.params", Need.DIALS)
async def checked(subject: Subject) -> None:
    """Past its end, a dial is refused in some way."""
    for answer in await _past_its_ends(subject):
        expect(answer.is_refusal, "a dial out of its range is refused", answer)


@check("d.codes.dial-range", Need.DIALS)
async def dial_range(subject: Subject) -> None:
    """And in this way."""
    for answer in await _past_its_ends(subject):
        is_called = answer.code == "bad_request" or not answer.is_refusal
        expect(is_called, "a dial out of its range is `bad_request`", answer)


@check("d.codes.coerced", Need.DIALS)
async def coerced(subject: Subject) -> None:
    """A number in quotes."""
    name, dial, limits = _a_dial(subject)
    answer = await subject.speak(variant=name, params={dial: str(limits.default)})
    expect(answer.is_audio, f"{str(limits.default)!r} is read as that number", answer)


def _a_dial(subject: Subject) -> tuple[str, str, Dial]:
    name, variant = subject.variant_with(lambda each: each.dials, "variant with dials")
    dial, limits = next(iter(variant.dials.items()))
    return name, dial, limits


async def _turned(subject: Subject, name: str, dial: str, value: float) -> Answer:
    return await subject.speak(variant=name, params={dial: value})


async def _past_its_ends(subject: Subject) -> list[Answer]:
    """Returns what came of each dial of each variant, below its least and above its greatest."""

    async def ask() -> list[Answer]:
        answers: list[Answer] = []
        for name, variant in subject.variants.items():
            for dial, limits in variant.dials.items():
                for value in (limits.min - 1, limits.max + 1):
                    subject.wait_on()  # one that is not refused loads the variant first
                    answers.append(await _turned(subject, name, dial, value))
        return answers

    return await subject.once("past its ends", ask)
