"""What the raw worker says that it can do."""

from collections.abc import Callable
from typing import Any, Final

Breaks = Callable[[str], bool]
"""Whether the worker is to break the promise of that id."""

FORMATS: Final = ["wav", "mp3", "opus", "flac", "pcm"]
VOICES: Final = {"low": 200, "high": 400}
CUES: Final = ["laugh", "chuckle", "sigh", "gasp", "cough", "clear throat", "sniff", "groan"]
MAX_CHARACTERS: Final = 4096
REFERENCE_SECONDS: Final = [1, 3]
MAX_SPEAKERS: Final = 2
PIECE_CHARACTERS: Final = 500
HEARD: Final = ("5.cues.claimed-subset", "5.deliveries.translated", "6.params.heard")
"""Promises about what each variant claims."""
DITHERED: Final = "with dither"
SHORT: Final = {"in 45 characters": 45, "in 20 characters": 20, "in 5 characters": 5}
NOBODYS_LIMIT: Final = "limits of nobody"
"""The largest number that every reader of JSON can hold."""
A_LANGUAGE_FOUND: Final = "a language found"
LANGUAGES: Final = {
    A_LANGUAGE_FOUND: ["auto", "en", "fr"],
    "a language twice": ["zh", "cmn"],
    "languages unknown here": ["ta", "te"],
}
AAC: Final = "aac"
FORMATS_OF: Final = {
    "pcm alone": ["pcm"],
    "mp3 alone": ["mp3"],
    "one format more": [*FORMATS, AAC],
}
ONE_SPEAKER: Final = "one speaker"
SPEAKERS: Final = "6.dialogue.speakers"
FOUR_SPEAKERS: Final = "6.dialogue.every-turn: two of four"
IN_PIECES: Final = "pieces of 500"
GEORGIAN: Final = "in Georgian"
NOT_IN_ENGLISH: Final = "8.claims.accepted: not in English"
"""Ways to be odd that a worker may have, whether or not it breaks one of those promises."""
MORE: Final = "more"
"""A variant that claims what another one performs."""


def is_odd(breaks: Breaks, odd: str) -> bool:
    """Whether the worker is odd in that way, alone or with a promise broken."""
    return breaks(odd) or any(breaks(f"{promise}: {odd}") for promise in (*HEARD, SPEAKERS))


def limit_of(breaks: Breaks) -> int:
    """Returns how long a text may be, in characters."""
    if breaks(NOBODYS_LIMIT):
        return 2**53 - 1
    return next((most for odd, most in SHORT.items() if is_odd(breaks, odd)), MAX_CHARACTERS)


def formats_of(breaks: Breaks) -> list[str]:
    """Returns the formats that are answered."""
    return next((listed for odd, listed in FORMATS_OF.items() if breaks(odd)), FORMATS)


def speakers_of(breaks: Breaks) -> int:
    """Returns how many speakers a dialogue may have."""
    if breaks(FOUR_SPEAKERS):
        return 4
    return 1 if breaks(ONE_SPEAKER) else MAX_SPEAKERS


def variants_of(breaks: Breaks, *, makes_voices: bool) -> dict[str, dict[str, Any]]:
    """Returns a variant that does little, and one that does everything."""
    making = {"supported": makes_voices}
    cloning = (
        {**making, "referenceSeconds": REFERENCE_SECONDS, "formats": ["wav"]}
        if makes_voices
        else making
    )
    plain: dict[str, Any] = {
        "cues": [],
        "deliveries": [],
        "dials": {},
        "languages": ["en"],
        "cloning": {"supported": False},
        "segmentation": {"supported": False},
    }
    full: dict[str, Any] = {
        "cues": ["laugh"],
        "deliveries": ["hushed"],
        "dials": {"speed": {"min": 0.5, "max": 2, "default": 1}},
        "languages": ["en", "fr"],
        "cloning": cloning,
        "blending": making,
        "segmentation": {"supported": True, "segmentCharacters": 200},
        "dialogue": {"maxSpeakers": 0 if breaks("4.dialogue.declared") else speakers_of(breaks)},
    }
    if breaks("4.cloning.per-variant"):
        del plain["cloning"]
    if breaks("5.cues.closed-set"):
        full["cues"] = ["laugh", "yawn"]
    if breaks("5.deliveries.closed-set"):
        full["deliveries"] = ["hushed", "whispered"]
    if breaks("8.split.declared"):
        full["segmentation"] = {"supported": True, "segmentCharacters": 0}
    _spoil_more(breaks, plain, full)
    listed = {"plain": plain, "full": full}
    if breaks("4.variants.named"):
        listed[""] = plain
    if breaks("4.variants.loadable"):
        listed["ghost"] = plain
    if any(breaks(f"{each}: another variant") for each in HEARD):
        listed[MORE] = full
    return listed


def _spoil_more(breaks: Breaks, plain: dict[str, Any], full: dict[str, Any]) -> None:
    _make_odd(breaks, plain, full)
    if breaks("4.variants.languages"):
        plain["languages"] = []
    if breaks("4.variants.languages: one twice"):
        full["languages"] = ["en", "fr", "en"]
    if breaks("4.cloning.references"):
        full["cloning"] = {**full["cloning"], "referenceSeconds": REFERENCE_SECONDS[::-1]}
    if breaks("4.cloning.references: not an ending"):
        full["cloning"] = {**full["cloning"], "formats": ["wav", ".WAV"]}
    if breaks("6.language.chosen: one of two"):
        full["languages"] = ["en", "fr", "de"]
    if breaks(NOT_IN_ENGLISH):
        full["languages"] = ["en", "fr", "ka"]
    if breaks("6.params.heard: one of two") or breaks("8.checks.params: the second dial"):
        full["dials"]["depth"] = {"min": 0, "max": 1, "default": 0}
    if breaks("d.json.camel-case: a dial"):
        full["dials"]["vibrato_depth"] = {"min": 0, "max": 1, "default": 0}


def _make_odd(breaks: Breaks, *variants: dict[str, Any]) -> None:
    for odd, languages in LANGUAGES.items():
        if breaks(odd):
            variants[-1]["languages"] = languages
    for variant in variants:
        if breaks(IN_PIECES):
            variant["segmentation"] = {"supported": True, "segmentCharacters": PIECE_CHARACTERS}
        if limit_of(breaks) != MAX_CHARACTERS:
            variant["maxCharacters"] = limit_of(breaks)
        if breaks(GEORGIAN):
            variant["languages"] = ["ka", *variant["languages"][1:]]


def document(
    breaks: Breaks, variants: dict[str, dict[str, Any]], resident: str | None, contract: int
) -> dict[str, Any]:
    """Returns the capability document."""
    said: dict[str, Any] = {
        "contract": contract,
        "engine": {"id": "raw", "displayName": "Raw", "adapterVersion": "1"},
        "license": {"code": "MIT", "weights": "none", "weightsCommercialUse": True},
        "device": {"type": "cpu", "name": "a processor"},
        "variants": variants,
        "formats": formats_of(breaks),
    }
    if resident is not None:
        said["current"] = _current(breaks, variants, resident)
    elif breaks("4.current.absent"):
        said["current"] = _current(breaks, variants, "plain")
    _spoil(breaks, said, resident)
    return said


def _spoil(breaks: Breaks, said: dict[str, Any], resident: str | None) -> None:
    if breaks("4.document.parts"):
        del said["contract"]
    if breaks("4.engine.identity"):
        del said["engine"]["adapterVersion"]
    if breaks("4.license.code-and-weights"):
        del said["license"]["weights"]
    if breaks("4.device.named"):
        del said["device"]["name"]
    if breaks("4.variants.own-abilities"):
        said["variants"] = {
            name: _without_deliveries(each) for name, each in said["variants"].items()
        }
    if breaks("4.variants.always") and resident is not None:
        said["variants"] = {resident: said["variants"][resident]}


def _without_deliveries(variant: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in variant.items() if name != "deliveries" or value}


def _current(breaks: Breaks, variants: dict[str, dict[str, Any]], resident: str) -> dict[str, Any]:
    current: dict[str, Any] = {
        **variants[resident],
        "variant": resident,
        "maxCharacters": limit_of(breaks),
        "streaming": {"supported": True, "granularity": "chunk"},
        "nativeFormat": {"encoding": "pcm_s16le", "sampleRate": 8000, "channels": 1},
    }
    if breaks("4.current.resident") and resident == "plain":
        current["cues"] = ["cough"]
    if breaks("4.current.follows-switch"):
        current["variant"] = "plain"
    if breaks("current says more"):
        current["cloning"] = {**current["cloning"], "recordsSeconds": 3}
    if breaks("4.current.follows-switch: the first one's dials"):
        current["dials"] = next(iter(variants.values()))["dials"]
    if breaks("4.current.limits"):
        del current["maxCharacters"]
    if breaks("4.current.native-format"):
        current["nativeFormat"] = {**current["nativeFormat"], "channels": 2}
    return current
