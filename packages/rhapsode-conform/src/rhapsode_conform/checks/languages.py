"""The languages of a variant (contract § 6, "`language` selects")."""

from rhapsode_contract import Variant

from rhapsode_conform.check import Need, check
from rhapsode_conform.claims import (
    Fields,
    languages_in,
    languages_told,
    listen,
    readings_of,
    sound_of,
)
from rhapsode_conform.outcome import expect, skipped, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import is_different
from rhapsode_conform.subject import Subject


@check("6.language.unlisted", Need.LANGUAGES)
async def unlisted(subject: Subject) -> None:
    """A language that is not listed."""
    name, _ = subject.variant_with(
        lambda each: len(each.languages or ()) > 1, "variant of several languages"
    )
    answer = await subject.speak(variant=name, language="x-nowhere")
    expect(answer.code == "unsupported", "a language it does not list is `unsupported`", answer)


@check("6.language.single-ignored", Need.ONE_LANGUAGE)
async def ignored(subject: Subject) -> None:
    """The field is nothing to a variant of one language."""
    name, _ = subject.variant_with(
        lambda each: len(each.languages or ()) == 1, "variant of one language"
    )
    answer = await subject.speak(variant=name, language="x-nowhere")
    expect(answer.is_audio, "a variant of one language ignores the field", answer)


@check("6.language.chosen", Need.LANGUAGES)
async def chosen(subject: Subject) -> None:
    """A sentence of a language is read otherwise than the first language would read it."""
    alike: list[str] = []

    async def look(name: str, variant: Variant) -> None:
        readings = readings_of(variant, subject.texts)
        same = [tag for tag, pair in readings.items() if not await _differ(subject, name, *pair)]
        why = f"{name!r} speaks the language asked for, of {', '.join(readings)}"
        expect(len(same) < len(readings), why, "a sentence of each is read as by the first")
        alike.extend(same)

    _expect_several(subject)
    await listen(subject, lambda each: readings_of(each, subject.texts), look)
    if alike:
        raise undecided(
            f"sentences of {', '.join(alike)} are read as the first language reads them"
        )


@check("6.language.default", Need.LANGUAGES)
async def default(subject: Subject) -> None:
    """A sentence of another language is read as by the first, where none is asked for."""
    told: list[str] = []

    async def look(name: str, variant: Variant) -> None:
        first = next(iter(variant.languages or ()))
        for own, _ in await languages_told(subject, name, variant):
            by_the_first = await subject.claimed(name, **{**own, "language": first})
            by_none = await subject.claimed(name, **{**own, "language": None})
            if not (by_the_first.is_audio and by_none.is_audio):
                continue
            told.append(name)
            is_same = not is_different(as_sound(by_the_first), as_sound(by_none))
            asked = {**own, "language": first, "variant": name}
            if not (is_same or await subject.stands_apart(as_sound(by_none), **asked)):
                raise undecided(f"the same request with a seed gave other audio from {name}")
            why = f"without `language`, {name!r} reads as {first!r}, which it lists first"
            expect(is_same, why, f"a sentence of {own['language']} is read otherwise")

    _expect_several(subject)
    await listen(subject, lambda each: readings_of(each, subject.texts), look)
    if not told:
        raise undecided("no sentence is read in one language otherwise than in the first")


def _expect_several(subject: Subject) -> None:
    """Goes on where a variant has a language whose sentence may be told from the first's."""
    variants = subject.variants.values()
    if any(readings_of(each, subject.texts) for each in variants):
        return
    if any(len(languages_in(each)) > 1 for each in variants):
        raise undecided("a sentence is known here of none of its languages but the first")
    raise skipped("no variant has two languages that are not dialects of one")


async def _differ(subject: Subject, name: str, own: Fields, by_the_first: Fields) -> bool:
    answer = await subject.claimed(name, **by_the_first)
    # Who cannot read it at all in another language tells the two apart.
    return not answer.is_audio or is_different(
        await sound_of(subject, name, **own), as_sound(answer)
    )
