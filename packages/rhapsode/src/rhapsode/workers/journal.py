"""What a worker writes to standard error, as lines of our own log."""

import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from rhapsode_contract import LogLine

logger = logging.getLogger("rhapsode.worker")

_LEVELS: Final = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
_KEPT_LINES: Final = 12
_KEPT_CHARACTERS: Final = 300
_SHOWN_CHARACTERS: Final = 1500


class Journal:
    """Forwards a worker's log with the engine's id, and remembers its last lines."""

    def __init__(self, engine: str, heard: Callable[[LogLine], None] | None = None) -> None:
        self._engine = engine
        self._heard = heard
        self._last: deque[str] = deque(maxlen=_KEPT_LINES)

    @property
    def last_words(self) -> str:
        """The last lines on standard error, for an error message; empty where there were none."""
        return "\n".join(self._last)[-_SHOWN_CHARACTERS:]

    def write(self, line: bytes) -> None:
        """Takes one line of the worker's standard error."""
        entry = parse(line)
        said = entry.exception.strip().splitlines()[-1:] if entry.exception else []
        self._last.extend(
            text[:_KEPT_CHARACTERS] for text in (*entry.message.splitlines(), *said) if text.strip()
        )
        if self._heard is not None:
            self._heard(entry)
        about = {
            "engine": self._engine,
            "workerLogger": entry.logger,
            "requestId": entry.request_id,
            "event": entry.event,
            "received": entry.received,
            "total": entry.total,
            "exception": entry.exception,
        }
        logger.log(
            _LEVELS.get(entry.level.lower(), logging.INFO),
            "%s",
            entry.message,
            extra={name: value for name, value in about.items() if value is not None},
        )

    def write_stdout(self, line: bytes) -> None:
        """Takes a line that should not be on standard output (contract § 2)."""
        text = line.decode(errors="replace").rstrip()
        logger.warning("on standard output: %s", text, extra={"engine": self._engine})


def parse(line: bytes) -> LogLine:
    """Returns a line of standard error as the log line it is, or as one that holds its text."""
    if line.lstrip().startswith(b"{"):
        try:
            return LogLine.model_validate_json(line)
        except ValueError:
            pass  # it only looked like one of ours
    return LogLine(message=line.decode(errors="replace").rstrip())
