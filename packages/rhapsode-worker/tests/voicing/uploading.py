"""Forms that make voices, as clients send them."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from rhapsode_contract import RhapsodeError
from rhapsode_worker.voicing.new_voice import NewVoice
from rhapsode_worker.voicing.staging import Staging
from rhapsode_worker.voicing.upload import received_voice
from starlette.requests import Request

from .store_room import files_in

BOUNDARY = "x-boundary-x"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"

Part = tuple[str, str | None, bytes]


def text(name: str, value: str) -> Part:
    return name, None, value.encode()


def clip(contents: bytes = b"sound", filename: str = "clip.wav") -> Part:
    return "reference", filename, contents


def body_of(parts: Iterable[Part], end: str = "--") -> bytes:
    body = b""
    for name, filename, contents in parts:
        disposition = f'form-data; name="{name}"'
        if filename is not None:
            disposition += f'; filename="{filename}"'
        head = f"--{BOUNDARY}\r\nContent-Disposition: {disposition}\r\n\r\n"
        body += head.encode() + contents + b"\r\n"
    return body + f"--{BOUNDARY}{end}\r\n".encode()


ID = text("id", "n")
WHOLE = body_of([ID, clip(b"sound" * 100)])


def request_of(
    pieces: Iterable[bytes],
    content_type: str | None = MULTIPART,
    *,
    declared_bytes: int | None = None,
    encoding: str | None = None,
    leaves: bool = False,
) -> Request:
    """A request whose body arrives in these pieces, and whose client may then leave."""
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    last = {"type": "http.disconnect"} if leaves else {"type": "http.request"}
    coming = iter([*messages, last])

    async def receive() -> dict[str, Any]:
        await anyio.lowlevel.checkpoint()
        return next(coming)

    headers: list[tuple[bytes, bytes]] = []
    if content_type is not None:
        headers.append((b"content-type", content_type.encode()))
    if declared_bytes is not None:
        headers.append((b"content-length", b"%d" % declared_bytes))
    if encoding is not None:
        headers.append((b"content-encoding", encoding.encode()))
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


async def received(
    folder: Path,
    request: Request,
    look: Callable[[NewVoice], Any] = lambda voice: voice,
    **how: Any,
) -> Any:
    """Receives a voice, and returns what `look` saw of it; nothing may be left."""
    how = {"types": ("wav", "flac"), "can_blend": True} | how
    with anyio.fail_after(60):
        async with received_voice(request, Staging(folder), **how) as voice:
            seen = look(voice)
    assert files_in(folder) == []
    return seen


async def refusal_of(folder: Path, request: Request, **how: Any) -> RhapsodeError:
    with pytest.raises(RhapsodeError) as refusal:
        await received(folder, request, **how)
    assert files_in(folder) == []
    assert files_in(folder.parent) == []
    assert len(refusal.value.message) < 400
    return refusal.value
