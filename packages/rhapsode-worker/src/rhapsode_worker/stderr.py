"""What Python code writes on standard error becomes log records, so that it stays JSON lines."""

import io
import logging
import re
import sys
import threading
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STDERR: Final = 2
_LINE_LIMIT_CHARACTERS: Final = 16 * 1024
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""A carriage return alone is how a progress bar begins its line anew."""

logger = logging.getLogger("stderr")


class LoggedStream(io.TextIOBase):
    """Stands for `sys.stderr` and makes a log record of each line; usable from any thread.

    Each thread has its own unfinished line, since `print` writes a text and its end apart. Records
    go straight to one handler: a library that configures logging anew, or disables loggers that
    it does not know, changes nothing here and cannot make a circle of it. Descriptor 2 is left
    alone, and with it whatever is written below Python: the last words of a crash.
    """

    def __init__(self, handler: logging.Handler, real: TextIO) -> None:
        """Args:
        handler: What makes lines of records; must not write to this stream.
        real: Where a line goes that is written while a record is being handled: the logging
            module's own complaint of a handler that fails.
        """
        super().__init__()
        self._handler = handler
        self._real = real
        self._unfinished: dict[int, str] = {}
        self._handling = threading.local()
        self.buffer = _Bytes(self)
        """For code that writes bytes."""

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "utf-8"

    @property
    def errors(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "replace"

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """Returns the real descriptor: `faulthandler` and child processes write there."""
        return _STDERR

    def close(self) -> None:
        """Does nothing: it is the process's own, whoever thinks it done with."""

    def write(self, text: str, /) -> int:
        """Logs each line that `text` completes."""
        if getattr(self._handling, "is_busy", False):
            return self._real.write(text)
        thread = threading.get_ident()
        # Only this thread uses this key.
        *lines, rest = _LINE_END.split(self._unfinished.pop(thread, "") + text)
        while len(rest) > _LINE_LIMIT_CHARACTERS:
            lines.append(rest[:_LINE_LIMIT_CHARACTERS])
            rest = rest[_LINE_LIMIT_CHARACTERS:]
        if rest:
            self._unfinished[thread] = rest
        for line in lines:
            self._log(line)
        return len(text)

    def finish(self) -> None:
        """Logs the lines that nobody has ended, before the process leaves."""
        for thread in list(self._unfinished):
            self._log(self._unfinished.pop(thread, ""))

    def _log(self, line: str) -> None:
        if not line.strip():
            return
        for start in range(0, len(line), _LINE_LIMIT_CHARACTERS):
            piece = line[start : start + _LINE_LIMIT_CHARACTERS].rstrip()
            record = logging.LogRecord("stderr", logging.INFO, "", 0, piece, None, None)
            self._handling.is_busy = True
            try:
                self._handler.handle(record)
            finally:
                self._handling.is_busy = False


class _Bytes(io.RawIOBase):
    """The stream for bytes, UTF-8."""

    def __init__(self, stream: LoggedStream) -> None:
        super().__init__()
        self._stream = stream

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return _STDERR

    def close(self) -> None: ...

    def write(self, data: "ReadableBuffer", /) -> int:
        piece = bytes(data)
        self._stream.write(piece.decode(errors="replace"))
        return len(piece)


def capture_stderr() -> None:
    """From now on what Python code writes on standard error is logged, line by line.

    Warnings, and the exceptions of threads and of what cannot raise, become one record each, with
    the traceback in it. A terminal keeps its stream: there the log is for reading, and a progress
    bar is one. Call it once, after `configure_logs`.
    """
    logging.captureWarnings(True)
    threading.excepthook = _log_thread
    sys.unraisablehook = _log_unraisable
    if not sys.stderr.isatty():
        (handler,) = logging.getLogger().handlers
        sys.stderr = LoggedStream(handler, sys.stderr)


def finish_stderr() -> None:
    """Logs what waits for the end of its line."""
    if isinstance(sys.stderr, LoggedStream):
        sys.stderr.finish()


def _log_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is None or isinstance(failed.exc_value, SystemExit):
        return  # Python says nothing of a thread that leaves by sys.exit either
    name = failed.thread.name if failed.thread is not None else "?"
    logger.error("the thread %s failed", name, exc_info=failed.exc_value)


def _log_unraisable(failed: "sys.UnraisableHookArgs") -> None:
    what = failed.err_msg or "an exception was ignored in"
    logger.error("%s: %r", what, failed.object, exc_info=failed.exc_value)
