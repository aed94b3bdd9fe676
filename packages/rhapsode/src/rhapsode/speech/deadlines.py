"""How long each stage of a request may take (design, "Deadlines")."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rhapsode.settings.entry import EngineEntry, EntryDeadlines


@dataclass(frozen=True)
class Deadlines:
    """Bounds in seconds. A start has `workers.startupTimeoutSeconds`, a wait for room its own."""

    load_seconds: float = 600.0
    """From asking for a load, or from its last news of progress."""

    first_audio_seconds: float = 120.0
    """From the end of every earlier request to the head of the answer."""

    stall_seconds: float = 120.0
    """Between two pieces of a stream."""

    segment_seconds: float = 120.0
    """Of a buffered answer, for each segment of its text."""

    def with_those_of(self, entry: EntryDeadlines) -> "Deadlines":
        """Returns these with what an engine's entry says instead."""
        return replace(self, **entry.model_dump(exclude_none=True))


class DeadlinesOfEngines:
    """Those of each engine's requests, as its entry has them now."""

    def __init__(self, usual: Deadlines, entry_of: Callable[[str], EngineEntry]) -> None:
        """Args:
        usual: Where an entry says nothing.
        entry_of: Returns the entry of an engine that is in service.
        """
        self._usual = usual
        self._entry_of = entry_of
        self._made: dict[str, tuple[EngineEntry, Deadlines]] = {}

    def of(self, engine: str) -> Deadlines:
        """Returns an engine's."""
        entry = self._entry_of(engine)
        made = self._made.get(engine)
        if made is None or made[0] is not entry:
            made = self._made[engine] = entry, self._usual.with_those_of(entry.deadlines)
        return made[1]
