"""What variants claim, each asked for once and looked at by several checks."""

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from rhapsode_contract import Variant
from rhapsode_http import UpstreamError

from rhapsode_conform.outcome import undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import Sound, is_different
from rhapsode_conform.subject import Subject
from rhapsode_conform.texts import Texts, primary_of

Fields = dict[str, object]
"""Of a speak request, over those that every claim has."""

Look = Callable[[str, Variant], Awaitable[None]]
"""Takes a variant's name and what it declares; raises a `Finding` where a claim is not heard."""

_LANGUAGE: Final = re.compile("[a-z]{2,3}")
_NO_LANGUAGES: Final = {"mis", "mul", "und", "zxx"}
"""Primary tags for uncoded languages, several, an unknown one and none."""

_LANGUAGES_TOLD: Final = 3


def claims_of(variant: Variant, texts: Texts) -> list[Fields]:
    """Returns a request for nothing special, and one for each claim of a variant.

    But for the cues that its limit leaves no room for.
    """
    pairs = [texts.with_cue(variant, cue) for cue in variant.cues]
    cues: list[Fields] = [{"text": pair[1]} for pair in pairs if pair is not None]
    deliveries: list[Fields] = [{"delivery": each} for each in variant.deliveries]
    dials: list[Fields] = [
        {"params": {name: end}}
        for name, dial in variant.dials.items()
        for end in (dial.min, dial.max)
    ]
    languages = [_in_language(variant, each, texts) for each in variant.languages or ()]
    return [{}, *cues, *deliveries, *dials, *languages]


def readings_of(variant: Variant, texts: Texts) -> dict[str, tuple[Fields, Fields]]:
    """Returns requests for a sentence of each of a few languages: in it, and in the first one.

    Dialects of one language are left out, since both may well be read as its speaker reads, and
    so are tags that leave the language to the voice or the text, such as `mul` and `auto`, and
    languages that we know no sentence of.
    """
    first, *others = languages_in(variant) or ("",)
    known = [tag for tag in others if texts.knows(variant, tag)]
    owns = {tag: _in_language(variant, tag, texts) for tag in known[:_LANGUAGES_TOLD]}
    return {tag: (own, {**own, "language": first}) for tag, own in owns.items()}


def languages_in(variant: Variant) -> list[str]:
    """Returns the first tag of each language that a variant lists."""
    by_primary: dict[str, str] = {}
    for tag in variant.languages or ():
        primary = primary_of(tag)
        if _LANGUAGE.fullmatch(primary) and primary not in _NO_LANGUAGES:
            by_primary.setdefault(primary, tag)
    return list(by_primary.values())


def _in_language(variant: Variant, language: str, texts: Texts) -> Fields:
    return {"language": language, "text": texts.sentence(variant, language)}


async def sound_of(subject: Subject, variant: str, **fields: object) -> Sound:
    """Returns what a claim sounds like.

    Raises:
        Finding: It was not spoken, which another check says, or not in samples.
    """
    assert subject.sampled  # or it comes to a finding
    answer = await subject.claimed(variant, **fields)
    if not answer.is_audio:
        raise undecided(f"{fields or 'a sentence'} was not spoken, which another check is about")
    return as_sound(answer)


async def listen(subject: Subject, has: Callable[[Variant], object], look: Look) -> None:
    """Looks at every variant for which `has` says yes and whose seed reproduces.

    Raises:
        Finding: What `look` found; or undecided, where a variant cannot be compared with itself.
    """
    unsteady: list[str] = []
    for name, variant in subject.variants.items():
        if not has(variant):
            continue
        if await subject.reproduces(name):
            await _visit(subject, name, variant)
            await look(name, variant)
        else:
            unsteady.append(name)
    if unsteady:
        names = ", ".join(unsteady)
        raise undecided(f"the same request with a seed gave other audio from {names}")


async def cues_told(subject: Subject, name: str, variant: Variant) -> list[str]:
    """Returns the cues that are heard behind a sentence."""
    told: list[str] = []
    for cue in variant.cues:
        pair = subject.texts.with_cue(variant, cue)
        if pair is not None:
            plain, with_cue = [await sound_of(subject, name, text=text) for text in pair]
            if is_different(plain, with_cue):
                told.append(cue)
    return told


async def dials_told(subject: Subject, name: str, variant: Variant) -> list[tuple[Fields, Fields]]:
    """Returns, for each dial that a sentence shows, requests for it at rest and turned."""
    told: list[tuple[Fields, Fields]] = []
    text = subject.texts.sentence(variant)
    for dial, limits in variant.dials.items():
        for end in (limits.min, limits.max):
            pair: tuple[Fields, Fields] = ({"text": text}, {"text": text, "params": {dial: end}})
            one, other = [await sound_of(subject, name, **fields) for fields in pair]
            if is_different(one, other):
                told.append(pair)
                break
    return told


async def languages_told(
    subject: Subject, name: str, variant: Variant
) -> list[tuple[Fields, Fields]]:
    """Returns, of `readings_of`, the pairs that are both spoken and do not sound alike."""
    assert subject.sampled  # or it comes to a finding
    told: list[tuple[Fields, Fields]] = []
    for pair in readings_of(variant, subject.texts).values():
        one, other = [await subject.claimed(name, **fields) for fields in pair]
        if one.is_audio and other.is_audio and is_different(as_sound(one), as_sound(other)):
            told.append(pair)
    return told


async def _visit(subject: Subject, name: str, variant: Variant) -> None:
    """Asks for everything that a variant claims while it is loaded: a switch can take minutes."""
    by_the_first = [reading for _, reading in readings_of(variant, subject.texts).values()]
    for fields in (*claims_of(variant, subject.texts), *by_the_first):
        with suppress(UpstreamError):  # who looks at this claim asks again, and is told
            await subject.claimed(name, **fields)
