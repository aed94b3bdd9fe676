"""How long each stage of a request may take (design, "Deadlines")."""

from dataclasses import dataclass, replace

from rhapsode.settings.entry import EntryDeadlines


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
