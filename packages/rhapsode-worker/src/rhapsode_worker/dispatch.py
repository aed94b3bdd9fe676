"""A request off the wire, as the engine is asked it: every check, before the adapter is called."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import rhapsode_contract as wire

from rhapsode_worker.requests import DialogueRequest, SpeakRequest

# Marks that turn the writing direction are for the eye, and some engines choke on them.
_DIRECTION_MARKS: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# Every control character but tab, line feed and carriage return, which are white space like any
# other, and NUL, which no text may hold.
_CONTROLS: Final = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Utterance:
    """A request that has passed every check."""

    request: SpeakRequest | DialogueRequest
    """What the engine is asked."""

    format: str

    is_streamed: bool

    max_seconds: int
    """Most audio that an answer may hold, so that a model that finds no end is given one: a second
    for each character allowed.
    """


def dispatch(body: wire.SpeakRequest, capabilities: wire.Capabilities) -> Utterance:
    """Holds a request against what the engine declares; its voice is looked up elsewhere.

    Args:
        body: As it came.
        capabilities: As the worker declares them now, `current` included.

    Raises:
        BadRequest: The text is too long or unspeakable, a dial unknown or out of range.
        Unsupported: The variant, format, language or delivery is not declared.
    """
    resident = capabilities.current.variant if capabilities.current else None
    name = wire.effective_variant(body.variant, resident, capabilities.variants)
    variant = capabilities.variants[name]
    text = checked_text(body.text, variant)
    format_name = wire.check_format(body.format, capabilities.formats)
    language = wire.check_language(body.language, variant)
    delivery = wire.check_delivery(body.delivery, variant)
    return Utterance(
        request=SpeakRequest(
            text=text,
            variant=name,
            voice=body.voice,
            language=language,
            delivery=delivery,
            params=every_dial(body.params, variant),
            seed=body.seed,
        ),
        format=format_name,
        is_streamed=bool(body.stream),
        max_seconds=variant.character_limit,
    )


def checked_text(text: str, variant: wire.Variant, field: str = "text") -> str:
    """Returns what is read of `text` on a variant.

    Raises:
        BadRequest: It is too long, or there is nothing in it to say.
    """
    wire.check_text(text, variant, field)  # as it came, so that the core counts the same
    # And as it is read: a mark that is taken out may have parted a cue.
    return wire.check_text(readable(text), variant, field)


def every_dial(params: Mapping[str, float] | None, variant: wire.Variant) -> dict[str, float]:
    """Returns a value for each dial: what the request turned, the default of the rest.

    Raises:
        BadRequest: A key is no dial of the variant, or its value is out of range.
    """
    defaults = {name: dial.default for name, dial in variant.dials.items()}
    return defaults | wire.check_params(params, variant.dials)


def readable(text: str) -> str:
    """Returns `text` in NFC without what cannot be read aloud and could hurt an engine.

    A control character becomes a space; a mark that turns the writing direction goes, before what
    it stood between is put together. A NUL is left for `check_text` to refuse. Fast enough for
    the event loop on all that a body can hold.
    """
    if text.isascii() and text.isprintable():
        return text
    return unicodedata.normalize("NFC", _CONTROLS.sub(" ", _DIRECTION_MARKS.sub("", text)))
