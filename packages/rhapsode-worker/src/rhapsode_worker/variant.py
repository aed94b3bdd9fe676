"""What one build of an engine can do, as its author declares it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from rhapsode_contract import CUES, DELIVERIES, MAX_CHARACTERS_DEFAULT

from rhapsode_worker.declared import (
    check_dial,
    check_languages,
    check_reference_seconds,
    checked_list,
)
from rhapsode_worker.native_format import NativeFormat

ALL_CUES: Final = CUES
"""Every cue of the vocabulary; claim it only if the build performs all of them."""

Dial = tuple[float, float, float]
"""Smallest, largest and default value of a number that a request may turn."""


@dataclass(frozen=True)
class Variant:
    """One build of an engine: claim only what it performs once loaded (contract § 8)."""

    cues: Sequence[str] = ()
    """Words of `ALL_CUES` that it performs; the others never reach the adapter."""

    deliveries: Sequence[str] = ()
    """Of `hushed` and `frantic`, those that it performs."""

    dials: Mapping[str, Dial] = field(default_factory=dict[str, Dial])
    """Name in camelCase to (min, max, default)."""

    languages: Sequence[str] | None = None
    """BCP 47 tags, the default first; None where there is nothing to choose."""

    max_characters: int = MAX_CHARACTERS_DEFAULT
    """Most code points a request may carry."""

    can_clone: bool = True
    """Whether it speaks in created voices, where the engine makes any."""

    reference_seconds: tuple[float, float] | None = None
    """The shortest and the longest reference that is of use."""

    segment_characters: int | None = None
    """Most code points in one generation; None where it takes any text whole. A longer text is
    split where a reader would pause, and `speak` gets one segment at a time.
    """

    first_segment_characters: int | None = None
    """Where the first segment should end sooner, so that its audio does too."""

    joint_silence_ms: int = 0
    """Pause between two segments where a sentence ends; shorter where a clause does."""

    has_own_loop: bool = False
    """Whether `speak` gets the text whole and calls `split` itself, because its generations
    depend on each other by more than `SpeakRequest.carried` can hold.
    """

    streaming: Literal["chunk", "sentence"] | None = "chunk"
    """How finely audio arrives while more is being made; None where it comes whole."""

    native_format: NativeFormat | None = None
    """The samples this build makes, where they differ from the engine's."""

    def __post_init__(self) -> None:
        """Checks the declaration, so that a wrong one stops the worker before it serves.

        Raises:
            ValueError: A cue or delivery is not in the vocabulary, a dial's default is outside
                its range, or another field makes no sense.
        """
        for word in checked_list("cues", self.cues):
            if word not in CUES:
                raise ValueError(f"{word!r} is no cue; the cues are {', '.join(CUES)}")
        for word in checked_list("deliveries", self.deliveries):
            if word not in DELIVERIES:
                raise ValueError(f"{word!r} is no delivery; there are {', '.join(DELIVERIES)}")
        for name, dial in self.dials.items():
            check_dial(name, dial)
        if self.languages is not None:
            check_languages(self.languages)
        if self.reference_seconds is not None:
            check_reference_seconds(self.reference_seconds)
        if self.streaming not in {None, "chunk", "sentence"}:
            raise ValueError(f"streaming is {self.streaming!r}; 'chunk', 'sentence' or None")
        if self.max_characters < 1:
            raise ValueError(f"max_characters is {self.max_characters}, at least 1 is needed")
        self._check_segments()

    def _check_segments(self) -> None:
        size, first = self.segment_characters, self.first_segment_characters
        if size is not None and size < 1:
            raise ValueError(f"segment_characters is {size}, at least 1 is needed")
        if first is not None and (size is None or not 1 <= first <= size):
            raise ValueError(f"first_segment_characters is {first}, segment_characters {size}")
        if self.joint_silence_ms < 0:
            raise ValueError(f"joint_silence_ms is {self.joint_silence_ms}, 0 is the least")
