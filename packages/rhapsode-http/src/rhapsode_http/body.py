"""Request bodies, counted as they arrive."""

from collections.abc import AsyncGenerator
from typing import TypeVar

from rhapsode_contract.errors import BadRequest
from rhapsode_contract.parsing import parse_request
from rhapsode_contract.quoting import shown
from rhapsode_contract.shape import Request as RequestShape
from starlette.requests import Request

JSON_BODY_LIMIT_BYTES = 1024 * 1024
"""1 MiB."""

UPLOAD_LIMIT_BYTES = 25_000_000
"""25 MB, decimal: what the contract (§ 7) says, where it says MiB of other things."""

R = TypeVar("R", bound=RequestShape)


async def read_body(request: Request, *, limit_bytes: int, what: str) -> bytes:
    """Reads the whole body of a request, which may be `limit_bytes` long and no longer.

    Args:
        request: Its body must not have been read yet.
        limit_bytes: A body that declares more is refused before any of it is read.
        what: Names the body in the error, such as "a voice upload".

    Raises:
        BadRequest: The body is encoded, or too long.
        starlette.requests.ClientDisconnect: The client left first.
    """
    check_body_head(request, limit_bytes=limit_bytes, what=what)
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit_bytes:
            raise _too_long(limit_bytes, what)
    return bytes(body)


async def body_pieces(request: Request, limit_bytes: int, what: str) -> AsyncGenerator[bytes]:
    """Yields the body of a request as it arrives, for who keeps none of it.

    Args:
        request: Its body must not have been read yet.
        limit_bytes: A body that declares more is refused before any of it is read.
        what: Names the body in the error.

    Raises:
        BadRequest: The body is encoded, or too long.
        starlette.requests.ClientDisconnect: The client left first.
    """
    check_body_head(request, limit_bytes=limit_bytes, what=what)
    count = 0
    async for piece in request.stream():
        count += len(piece)
        if count > limit_bytes:
            raise _too_long(limit_bytes, what)
        yield piece


def check_body_head(request: Request, *, limit_bytes: int, what: str) -> None:
    """Refuses a body by what the headers say of it, before any of it is read.

    Raises:
        BadRequest: `Content-Length` says more than `limit_bytes`, or `Content-Encoding` says that
            the body is not itself: a few bytes of gzip may become any number.
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdecimal() and int(declared) > limit_bytes:
        raise _too_long(limit_bytes, what)
    for encoding in request.headers.getlist("content-encoding"):
        if encoding.strip().lower() not in {"", "identity"}:
            raise BadRequest(
                f"the Content-Encoding must be identity or absent, not {shown(encoding)}"
            )


async def read_json(request: Request, model: type[R]) -> R:
    """Reads a JSON body of at most 1 MiB into `model`.

    Raises:
        BadRequest: The content type is not JSON, or the body is encoded, too long, or does not
            fit.
        starlette.requests.ClientDisconnect: The client left first.
    """
    content_type = request.headers.get("content-type", "")
    if not _is_json(content_type):
        came = f"not {content_type!r}" if content_type else "and it is missing"
        raise BadRequest(f"the Content-Type must be application/json, {came}")
    body = await read_body(request, limit_bytes=JSON_BODY_LIMIT_BYTES, what="a JSON body")
    return parse_request(model, body)


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


def _too_long(limit_bytes: int, what: str) -> BadRequest:
    return BadRequest(f"{what} may be {limit_bytes:,} bytes long, and this one is longer")
