"""Whether what a check needs is there."""

from collections.abc import Callable, Mapping
from typing import Final

from rhapsode_contract import CUES, DELIVERIES, Variant

from rhapsode_conform.check import Check, Need
from rhapsode_conform.outcome import Outcome, Verdict
from rhapsode_conform.subject import Subject

_OF_A_VARIANT: Final[Mapping[Need, Callable[[Variant], object]]] = {
    Need.CUES: lambda each: each.cues,
    Need.UNCLAIMED_CUE: lambda each: set(CUES) - set(each.cues),
    Need.DELIVERIES: lambda each: each.deliveries,
    Need.NO_DELIVERY: lambda each: set(DELIVERIES) - set(each.deliveries),
    Need.DIALS: lambda each: each.dials,
    Need.LANGUAGES: lambda each: len(each.languages or ()) > 1,
    Need.ONE_LANGUAGE: lambda each: len(each.languages or ()) == 1,
    Need.CLONING: lambda each: each.cloning is not None and each.cloning.supported,
    Need.BLENDING: lambda each: each.blending is not None and each.blending.supported,
    Need.MAKING: lambda each: (
        (each.cloning is not None and each.cloning.supported)
        or (each.blending is not None and each.blending.supported)
    ),
    Need.NO_BLENDING: lambda each: each.blending is None or not each.blending.supported,
    Need.DIALOGUE: lambda each: each.dialogue is not None,
    Need.NO_DIALOGUE: lambda each: each.dialogue is None,
}


async def unmet(check: Check, subject: Subject) -> Outcome | None:
    """Returns the outcome of a check that cannot be made; None where it can."""
    for need in check.needs:
        if need is Need.SEED:
            if not await subject.reproduces():
                return Outcome(Verdict.UNDECIDED, "the same request with a seed gave other audio")
        elif not _is_met(need, subject):
            return Outcome(Verdict.SKIPPED, f"it needs {need.value}")
    return None


def _is_met(need: Need, subject: Subject) -> bool:
    if need is Need.SPAWNED:
        return subject.worker is not None
    if need is Need.VOICES:
        return bool(subject.voices)
    if need is Need.TWO_VOICES:
        return len(subject.voices) > 1
    if need is Need.VARIANTS:
        return len(subject.variants) > 1
    has = _OF_A_VARIANT[need]
    return any(has(variant) for variant in subject.variants.values())
