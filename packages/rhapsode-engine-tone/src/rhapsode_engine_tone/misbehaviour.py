"""How a worker can misbehave on demand, so that tests of others can meet it.

`RHAPSODE_TONE_MISBEHAVE` holds flags, parted by commas, some with a number:
`die-mid-stream=1.5,ignore-sigterm`.
"""

from collections.abc import Mapping
from enum import StrEnum
from math import isfinite
from types import MappingProxyType
from typing import Final

VARIABLE: Final = "RHAPSODE_TONE_MISBEHAVE"


class Flag(StrEnum):
    """One way to misbehave. Numbers are seconds unless said otherwise."""

    EXIT_AT_START = "exit-at-start"
    """Leaves before the handshake; the number is the exit status."""
    MUTE_START = "mute-start"
    """Never shakes hands."""
    SLOW_START = "slow-start"
    """Shakes hands late."""
    IGNORE_SIGTERM = "ignore-sigterm"
    """Blocks the signal for the whole process; its children inherit that."""
    PRINT = "print"
    """Writes to standard output at the start, in load and in speak, through Python and below it."""

    FAIL_LOAD = "fail-load"
    """Every load raises."""
    FAIL_LOAD_ONCE = "fail-load-once"
    """The first load of the process raises."""
    MISSING_WEIGHTS = "missing-weights"
    """Every load raises FileNotFoundError."""
    OOM_IN_LOAD = "oom-in-load"
    """Every load raises MemoryError."""
    SLOW_LOAD = "slow-load"
    """A load takes that long."""
    HANG_IN_LOAD = "hang-in-load"
    """A load never ends."""
    HANG_IN_UNLOAD = "hang-in-unload"
    """An unload never ends."""

    RAISE_BEFORE_AUDIO = "raise-before-audio"
    """Speaking raises at once."""
    OOM_IN_SPEAK = "oom-in-speak"
    """Speaking raises MemoryError at once."""
    HANG_IN_SPEAK = "hang-in-speak"
    """Speaking never begins."""
    HOLD_THE_INTERPRETER = "hold-the-interpreter"
    """Speaking holds Python's lock for that long before it begins: no other thread moves."""
    NO_AUDIO = "no-audio"
    """Speaking ends without a sample."""
    SHORT_BODY = "short-body"
    """Speaking ends after that many bytes."""
    RAISE_MID_STREAM = "raise-mid-stream"
    """Raises after that much audio, as the four below do what they say."""
    HANG_MID_STREAM = "hang-mid-stream"
    DIE_MID_STREAM = "die-mid-stream"
    """SIGKILL."""
    SEGV_MID_STREAM = "segv-mid-stream"
    """SIGSEGV."""
    EXIT_MID_STREAM = "exit-mid-stream"
    """SystemExit, as a library that calls `sys.exit` raises it."""
    PACE = "pace"
    """Audio is made at that multiple of real time, in hundredths of a second."""
    RAGGED = "ragged"
    """Pieces of 1, 2, 3, ... bytes, so that they end within samples."""


DEFAULTS: Final[Mapping[Flag, float]] = MappingProxyType(
    {
        Flag.EXIT_AT_START: 1,
        Flag.SLOW_START: 1,
        Flag.SLOW_LOAD: 1,
        Flag.HOLD_THE_INTERPRETER: 1,
        Flag.SHORT_BODY: 100,
        Flag.RAISE_MID_STREAM: 0.5,
        Flag.HANG_MID_STREAM: 0.5,
        Flag.DIE_MID_STREAM: 0.5,
        Flag.SEGV_MID_STREAM: 0.5,
        Flag.EXIT_MID_STREAM: 0.5,
        Flag.PACE: 1,
    }
)
"""The flags that take a number, and the number where none is given."""

Misbehaviour = Mapping[Flag, float]
"""Each flag that is set, with its number; 0 where it takes none."""


def parse(text: str) -> Misbehaviour:
    """Returns the flags in `text`; empty for an engine that behaves.

    Raises:
        ValueError: A flag is unknown, or its number is missing, negative or not wanted.
    """
    flags: dict[Flag, float] = {}
    for word in filter(None, map(str.strip, text.split(","))):
        name, equals, number = word.partition("=")
        try:
            flag = Flag(name)
        except ValueError:
            raise ValueError(f"{VARIABLE}: {name!r} is none of {', '.join(Flag)}") from None
        if equals and flag not in DEFAULTS:
            raise ValueError(f"{VARIABLE}: {name} takes no number, but got {number!r}")
        flags[flag] = _number(name, number) if equals else DEFAULTS.get(flag, 0)
    return MappingProxyType(flags)


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{VARIABLE}: {name} takes a number, not {text!r}") from None
    if not isfinite(value) or value < 0 or (value == 0 and name == Flag.PACE):
        raise ValueError(f"{VARIABLE}: {name}={text} is no sensible number")
    return value
