"""One answer of a worker, kept whole, and read as leniently as can be.

A check looks at one promise. Reading an answer must therefore never fail on another: an envelope
without `retryable` still has a code, and only the check of `retryable` minds.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from rhapsode_conform.outcome import shown


@dataclass(frozen=True)
class Answer:
    """A request and what came back."""

    method: str
    target: str
    status: int
    headers: list[tuple[str, str]]
    """Names in lower case, in the worker's order."""
    body: bytes
    trailers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    broken_off: str = ""
    """Why the body is not whole; empty where it is."""

    def header(self, name: str) -> str | None:
        """Returns the first header of this name, in lower case, or None."""
        return next((value for key, value in self.headers if key == name), None)

    @property
    def content_type(self) -> str:
        """The media type without its parameters, in lower case; empty where there is none."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    @cached_property
    def json(self) -> Any:
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def object(self) -> dict[str, Any]:
        """The body as a JSON object; empty where it is none."""
        return as_object(self.json)

    @property
    def is_list(self) -> bool:
        """Whether the body is a JSON list."""
        return isinstance(self.json, list)

    @property
    def error(self) -> dict[str, Any]:
        """What stands under `error`; empty where there is no such object."""
        return as_object(self.object.get("error"))

    @property
    def code(self) -> str | None:
        """The error's code, or None."""
        code = self.error.get("code")
        return code if isinstance(code, str) else None

    @property
    def message(self) -> str:
        """The error's message; empty where there is none."""
        return str(self.error.get("message", ""))

    @property
    def is_refusal(self) -> bool:
        """Whether it is no success."""
        return self.status >= 400

    @property
    def is_audio(self) -> bool:
        """Whether it is a success that says it is audio."""
        return self.status == 200 and self.content_type.startswith("audio/")

    def __str__(self) -> str:
        kind = self.header("content-type") or "no type"
        is_text = kind.startswith(("application/json", "text/"))
        what = shown(self.body.decode(errors="replace")) if is_text else f"{len(self.body)} bytes"
        broken = f", broken off: {self.broken_off}" if self.broken_off else ""
        return f"{self.method} {self.target}: {self.status} {kind}, {what}{broken}"


def as_object(value: Any) -> dict[str, Any]:
    """Returns `value` if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_json_object(text: str) -> dict[str, Any]:
    """Returns the JSON object that `text` is, else an empty one."""
    try:
        return as_object(json.loads(text))
    except ValueError:
        return {}


def as_list(value: Any) -> list[Any]:
    """Returns `value` if it is a JSON list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []
