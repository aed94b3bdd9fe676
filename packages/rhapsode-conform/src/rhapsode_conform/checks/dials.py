"""Dials: the numbers that a variant lets a request turn (contract § 6, `params`)."""

from typing import Final

from rhapsode_contract import Dial, Variant

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.claims import listen, sound_of
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.sound import is_different
from rhapsode_conform.subject import Subject

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
        seen = f"the same audio at both ends of {', '.join(dead)} as at rest"
        expect(dead != dials, f"what is turned on {name!r} is heard", seen)
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


@check("6.params.unknown")
async def unknown(subject: Subject) -> None:
    """A dial that the variant does not have."""
    answer = await subject.speak(params={_NO_DIAL: 0.5})
    is_named = answer.code == "bad_request" and _NO_DIAL in answer.message
    expect(is_named, f"the unknown dial {_NO_DIAL!r} is `bad_request` naming it", answer)


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
    name, dial, limits = _a_dial(subject)

    async def ask() -> list[Answer]:
        beyond = (limits.min - 1, limits.max + 1)
        return [await _turned(subject, name, dial, value) for value in beyond]

    return await subject.once("past its ends", ask)
