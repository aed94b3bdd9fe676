"""Log lines: JSON for machines, one readable line for a terminal, each with its request id."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from rhapsode_http.request_id import request_id

_STANDARD_FIELDS: Final = frozenset(
    vars(logging.LogRecord("", 0, "", 0, "", None, None)) | {"message": "", "asctime": ""}
)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `ts`, `level`, `logger`, `message`, then what there is besides.

    `ts` is ISO 8601 in UTC with milliseconds. `requestId` and `exception` (the traceback's
    text) appear where there is one, and whatever was given as `extra` under its own name.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "ts": _moment(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (current := request_id.get()) is not None:
            fields["requestId"] = current
        if (trace := _traceback(self, record)) is not None:
            fields["exception"] = trace
        for name, value in _extra(record).items():
            fields.setdefault(name, value)
        # ASCII only: one line stays one line whatever a terminal or collector takes for a break.
        return json.dumps(fields, default=str, separators=(",", ":"))


class TerminalFormatter(logging.Formatter):
    """`12:00:00.000 warning rhapsode.app: message key=value`, and the traceback below it."""

    def format(self, record: logging.LogRecord) -> str:
        clock = _moment(record).astimezone().strftime("%H:%M:%S.%f")[:-3]
        line = f"{clock} {record.levelname.lower():7} {record.name}: {record.getMessage()}"
        extra = dict(_extra(record))
        if (current := request_id.get()) is not None:
            extra.setdefault("requestId", current)
        for name, value in extra.items():
            line += f" {name}={value}"
        trace = _traceback(self, record)
        return line if trace is None else f"{line}\n{trace}"


def configure_logs(level: int | str = logging.INFO, stream: TextIO | None = None) -> None:
    """Sends every log record of the process to `stream`, and nothing anywhere else.

    Args:
        level: Of the root logger, such as `"INFO"` or `logging.INFO`.
        stream: Standard error where None; a terminal gets the readable form.
    """
    target = sys.stderr if stream is None else stream
    handler = logging.StreamHandler(target)
    handler.setFormatter(TerminalFormatter() if target.isatty() else JsonFormatter())
    root = logging.getLogger()
    for former in list(root.handlers):
        root.removeHandler(former)
    root.addHandler(handler)
    root.setLevel(level)


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, tz=UTC)


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str | None:
    parts = [formatter.formatException(record.exc_info)] if record.exc_info else []
    if record.stack_info:
        parts.append(formatter.formatStack(record.stack_info))
    return "\n".join(parts) or None


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD_FIELDS}
