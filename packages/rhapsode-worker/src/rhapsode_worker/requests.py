"""What an adapter is asked to speak, once every check is done."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rhapsode_contract import Delivery


def nobody_has_left() -> bool:
    """Says that the listener is there."""
    return False


@dataclass(frozen=True)
class SpeakRequest:
    """One text for one voice. The SDK has checked all of it against the variant."""

    text: str
    """Speakable, at most `max_characters` code points, holding only cues the variant claims."""

    variant: str
    """The resident variant."""

    voice: str | None = None
    """An id of `voices()`, or None for the engine's own default."""

    language: str | None = None
    """One of the variant's languages; None where it lists none."""

    delivery: Delivery | None = None

    params: Mapping[str, float] = field(default_factory=dict[str, float])
    """Every dial of the variant: what the request turned, the default of the rest."""

    seed: int | None = None
    """A 64-bit number; the same request with the same seed should sound the same. Each segment
    of a text has its own: the request's, plus the segment's index.
    """

    is_abandoned: Callable[[], bool] = nobody_has_left
    """Whether nobody listens any more: to be asked in a loop between two pieces, so that a long
    generation can end before it would give the next.
    """

    index: int = 0
    """Which segment of a long text this is, from 0."""

    is_last: bool = True
    """Whether no segment of the same text follows."""

    carried: dict[str, Any] = field(default_factory=dict[str, Any])
    """The adapter's own, the same in every segment of one text: what one leaves, the next finds."""


@dataclass(frozen=True)
class Turn:
    """One speaker's line."""

    speaker: str
    """A label of the request's own."""

    text: str
    """Speakable, holding only cues that the variant claims."""


@dataclass(frozen=True)
class DialogueRequest:
    """A conversation. The SDK has checked all of it against the variant."""

    turns: tuple[Turn, ...]
    """At least one; together at most `max_characters` code points, by at most `max_speakers`."""

    variant: str
    """The resident variant."""

    voices: Mapping[str, str] = field(default_factory=dict[str, str])
    """Speaker to an id of `voices()`; the model picks one for a speaker that is not in it."""

    language: str | None = None

    params: Mapping[str, float] = field(default_factory=dict[str, float])
    """Every dial of the variant: what the request turned, the default of the rest."""

    seed: int | None = None

    is_abandoned: Callable[[], bool] = nobody_has_left
    """Whether nobody listens any more."""


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(name: str) -> str:
    """Returns a camelCase dial name as Python spells it: `cfgWeight` is `cfg_weight`."""
    return _HUMP.sub("_", name).lower()
