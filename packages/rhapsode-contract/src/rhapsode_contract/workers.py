"""What a worker and its core tell each other (contract §§ 2, 3, 8)."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from rhapsode_contract.shape import Request, Shape

ModelState = Literal["unloaded", "loading", "loaded", "unloading"]


def _measured(value: object) -> object:
    is_measured = not isinstance(value, int | float) or value > 0
    return value if is_measured else None


MeasuredBytes = Annotated[Annotated[int, Field(gt=0)] | None, BeforeValidator(_measured)]
"""Bytes that something measured, or None: a 0 or less is a measurement that failed, and adding it
up would make a model look free (§ 3)."""


class Handshake(Shape):
    """The one line on a worker's standard output."""

    ready: Literal[True]

    contract: int
    """The contract the worker answers at."""

    engine: str

    listen: str
    """The address it really bound, such as `tcp:127.0.0.1:41234`."""


class Health(Shape):
    """What a worker's `GET /health` answers, and its `/load` and `/unload`."""

    process: Literal["up", "draining"]

    model: ModelState

    variant: str | None = None
    """The resident variant, or the one being loaded."""

    device: str
    """Such as `cuda:0`."""

    vram_bytes: MeasuredBytes = None
    """What the card holds in use, whoever uses it."""

    model_bytes: MeasuredBytes = None
    """What the resident model took of it; absent where nothing measured it, never 0."""


class LoadRequest(Request):
    """The body of `POST /load`; absent, or without a variant, means the default."""

    variant: str | None = None


class FetchRequest(Request):
    """The body of `POST /fetch`: whose weights to download."""

    variant: Annotated[str, StringConstraints(min_length=1)]


class LogLine(Shape):
    """A JSON line on a worker's standard error."""

    ts: str | None = None

    level: str = "info"

    message: str = ""

    logger: str | None = None

    request_id: str | None = None

    event: str | None = None
    """What kind of line this is, where a program should tell: `fetch`, say."""

    received: int | None = None
    """Of a `fetch`: bytes so far."""

    total: int | None = None
    """Of a `fetch`: bytes in all, where known."""

    exception: str | None = None
