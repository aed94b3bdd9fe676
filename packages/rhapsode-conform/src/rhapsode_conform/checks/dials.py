"""Dials: the numbers that a variant lets a request turn (contract § 6, `params`)."""

from rhapsode_contract import Dial

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.sound import is_different
from rhapsode_conform.subject import SEED, Subject

_NO_DIAL = "noSuchDial"


@check("6.params.by-dials", Need.DIALS)
async def by_dials(subject: Subject) -> None:
    """Both ends of each dial are accepted, and heard where a seed lets us tell."""
    name, _, _ = _a_dial(subject)
    silent: list[str] = []
    for dial, limits in subject.variants[name].dials.items():
        ends = [await _turned(subject, name, dial, end) for end in (limits.min, limits.max)]
        for answer in ends:
            expect(answer.is_audio, f"both ends of {dial!r} are accepted", answer)
        if await subject.reproduces():
            low = await subject.sound(variant=name, seed=SEED, params={dial: limits.min})
            high = await subject.sound(variant=name, seed=SEED, params={dial: limits.max})
            if limits.min < limits.max and not is_different(low, high):
                silent.append(dial)
    if silent:
        raise undecided(f"both ends of {', '.join(silent)} are accepted and sound the same")


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
