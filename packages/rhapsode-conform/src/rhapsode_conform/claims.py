"""What variants claim, each asked for once and looked at by several checks."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from rhapsode_contract import Variant
from rhapsode_http import UpstreamError

from rhapsode_conform.outcome import undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import Sound
from rhapsode_conform.subject import Subject
from rhapsode_conform.texts import Texts

Fields = dict[str, object]
"""Of a speak request, over those that every claim has."""

Look = Callable[[str, Variant], Awaitable[None]]
"""Takes a variant's name and what it declares; raises a `Finding` where a claim is not heard."""

_NO_LANGUAGES: Final = {"mul", "und", "zxx"}
"""Primary tags for several languages, an unknown one and none."""

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
    so are tags that leave the language to the voice.
    """
    by_primary: dict[str, str] = {}
    for tag in variant.languages or ():
        if _primary(tag) not in _NO_LANGUAGES:
            by_primary.setdefault(_primary(tag), tag)
    first, *others = by_primary.values() or ("",)
    owns = {tag: _in_language(variant, tag, texts) for tag in others[:_LANGUAGES_TOLD]}
    return {tag: (own, {**own, "language": first}) for tag, own in owns.items()}


def _in_language(variant: Variant, language: str, texts: Texts) -> Fields:
    return {"language": language, "text": texts.sentence(variant, language)}


def _primary(language: str) -> str:
    return language.lower().partition("-")[0]


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


async def _visit(subject: Subject, name: str, variant: Variant) -> None:
    """Asks for everything that a variant claims while it is loaded: a switch can take minutes."""
    by_the_first = [reading for _, reading in readings_of(variant, subject.texts).values()]
    for fields in (*claims_of(variant, subject.texts), *by_the_first):
        with suppress(UpstreamError):  # who looks at this claim asks again, and is told
            await subject.claimed(name, **fields)
