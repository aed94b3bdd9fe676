"""The vocabulary, and whether what is claimed is performed (contract § 5)."""

from typing import Final

from rhapsode_contract import CUES, DELIVERIES, Variant

from rhapsode_conform.check import Need, check
from rhapsode_conform.claims import claims_of, listen, sound_of
from rhapsode_conform.outcome import expect, failed, undecided
from rhapsode_conform.sound import is_different
from rhapsode_conform.subject import Subject

_CLAIMS: Final = "everything that a variant claims is accepted when asked for"


@check("5.cues.closed-set")
async def cues_closed(subject: Subject) -> None:
    """No cue but those of the vocabulary."""
    for name, variant in subject.variants.items():
        foreign = sorted(set(variant.cues) - set(CUES))
        expect(not foreign, f"{name!r} claims cues that are none", foreign)


@check("5.deliveries.closed-set")
async def deliveries_closed(subject: Subject) -> None:
    """No delivery but the two."""
    for name, variant in subject.variants.items():
        foreign = sorted(set(variant.deliveries) - set(DELIVERIES))
        expect(not foreign, f"{name!r} claims deliveries that are none", foreign)


@check("5.cues.claimed-subset", Need.CUES)
async def cues_performed(subject: Subject) -> None:
    """Each cue that a variant claims is heard: the same seed, with it and without."""
    unasked: list[str] = []

    async def look(name: str, variant: Variant) -> None:
        for cue in variant.cues:
            pair = subject.texts.with_cue(variant, cue)
            if pair is None:
                unasked.append(cue)
                continue
            plain, with_cue = [await sound_of(subject, name, text=text) for text in pair]
            why = f"[{cue}] is claimed by {name!r} and performed"
            expect(is_different(plain, with_cue), why, "the same audio without it")

    await listen(subject, lambda each: each.cues, look)
    if unasked:
        raise undecided(f"`maxCharacters` leaves no room for {', '.join(unasked)}")


@check("d.cues.matching", Need.CUES)
async def cues_matched(subject: Subject) -> None:
    """In capitals and with more white space, a cue is heard as well."""
    untold: list[str] = []

    async def look(name: str, variant: Variant) -> None:
        for cue in _spelt_otherwise(variant):
            pair = subject.texts.with_cue(variant, cue.upper().replace(" ", "  "))
            if pair is None:
                untold.append(f"`maxCharacters` leaves no room for {cue}")
                continue
            plain, otherwise = pair
            texts = (plain, otherwise, f"{plain} [{cue}]")
            without, matched, as_written = [
                await sound_of(subject, name, text=text) for text in texts
            ]
            if not is_different(without, as_written):
                untold.append(f"{cue} is not heard; see 5.cues.claimed-subset")
                continue
            why = f"{otherwise!r} has a cue that {name!r} performs"
            expect(is_different(without, matched), why, "the same audio without it")
            if is_different(matched, as_written):
                # Read aloud, or taken by the engine itself, to which a letter may be a letter.
                untold.append(f"{otherwise!r} is not heard as in small letters")

    await listen(subject, lambda each: each.cues, look)
    if untold:
        raise undecided("; ".join(untold))


def _spelt_otherwise(variant: Variant) -> list[str]:
    """Returns a cue of one word and one of two, where a variant has them."""
    ones = [cue for cue in variant.cues if " " not in cue]
    twos = [cue for cue in variant.cues if " " in cue]
    return [*ones[:1], *twos[:1]]


@check("5.deliveries.translated", Need.DELIVERIES)
async def deliveries_performed(subject: Subject) -> None:
    """Each delivery that a variant claims is heard."""

    async def look(name: str, variant: Variant) -> None:
        plain = await sound_of(subject, name)
        for delivery in variant.deliveries:
            read = await sound_of(subject, name, delivery=delivery)
            why = f"{delivery!r} is claimed by {name!r} and performed"
            expect(is_different(plain, read), why, "the same without it")

    await listen(subject, lambda each: each.deliveries, look)


@check("d.cues.worker-strips", Need.UNCLAIMED_CUE)
async def strips(subject: Subject) -> None:
    """A cue that is not claimed is not read aloud."""
    name, variant = subject.variant_with(_unclaimed, "variant that leaves a cue out")
    if not await subject.reproduces(name):
        raise undecided(f"the same request with a seed gave other audio from {name}")
    cue = _unclaimed(variant)[0]
    pair = subject.texts.with_cue(variant, cue)
    if pair is None:
        raise undecided(f"`maxCharacters` leaves no room for {cue}")
    plain, with_cue = [await sound_of(subject, name, text=text) for text in pair]
    if not is_different(plain, with_cue):
        return
    if not await subject.stands_apart(with_cue, variant=name, text=pair[0]):
        raise undecided(f"the same request with a seed gave other audio from {name}")
    raise failed(f"[{cue}] is not claimed by {name!r} and taken out", "other audio with it")


@check("d.codes.delivery-word")
async def delivery_word(subject: Subject) -> None:
    """A word that is no delivery."""
    answer = await subject.speak(delivery="bored")
    expect(answer.code == "bad_request", "a delivery that is none is `bad_request`", answer)


@check("d.codes.delivery-unclaimed", Need.NO_DELIVERY)
async def delivery_unclaimed(subject: Subject) -> None:
    """Each delivery that a variant does not perform."""
    for name, variant in subject.variants.items():
        for delivery in (each for each in DELIVERIES if each not in variant.deliveries):
            subject.wait_on()  # one that ignores it loads the variant first
            answer = await subject.speak(variant=name, delivery=delivery)
            is_refused = answer.code == "unsupported"
            expect(is_refused, f"{delivery!r} is not claimed by {name!r}: `unsupported`", answer)


@check("8.claims.accepted")
async def claims(subject: Subject) -> None:
    """Each variant, and each cue, delivery, dial and language of it."""
    unreadable: list[str] = []
    for name, variant in subject.variants.items():
        for fields in claims_of(variant, subject.texts):
            answer = await subject.claimed(name, **fields)
            language = str(fields.get("language", ""))
            if language and not answer.is_audio and not subject.texts.knows(variant, language):
                unreadable.append(language)
                continue
            expect(answer.is_audio, f"{_CLAIMS}: {name!r}, {fields}", answer)
    if unreadable:
        raise undecided(f"no sentence of {', '.join(unreadable)} is known here to ask for")


def _unclaimed(variant: Variant) -> list[str]:
    return [cue for cue in CUES if cue not in variant.cues]
