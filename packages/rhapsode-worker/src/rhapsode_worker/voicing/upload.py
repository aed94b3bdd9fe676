"""The form that makes a voice, written to disk as it arrives (contract § 7)."""

import re
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from typing import Final

import anyio.to_thread
from rhapsode_contract import BadRequest, Unsupported
from rhapsode_contract.quoting import listed, shown
from rhapsode_http import UPLOAD_LIMIT_BYTES, check_body_head
from starlette.requests import Request

from rhapsode_worker.voicing.folder import storing
from rhapsode_worker.voicing.form import Form, FormEvent, PartData, PartHead
from rhapsode_worker.voicing.new_voice import NewVoice, sources_refused
from rhapsode_worker.voicing.staging import Staged, Staging

REFERENCE: Final = "reference"
TEXT_FIELDS: Final = ("id", "label", "transcript", "blend")

_TEXT_LIMIT_BYTES: Final = 8 * 1024
"""Of one field of text; twenty seconds of speech are about 400 characters."""

_WRITE_BYTES: Final = 256 * 1024
"""Written at once, on a thread: a slow disk must not stop the event loop."""

_FILENAME: Final = re.compile(r"[^/\\\x00-\x1f\x7f]{1,200}\.(?P<type>[A-Za-z0-9]{1,16})")

_WHAT: Final = "a voice upload"


@asynccontextmanager
async def received_voice(
    request: Request,
    staging: Staging,
    *,
    types: Collection[str],
    can_blend: bool,
    limit_bytes: int = UPLOAD_LIMIT_BYTES,
) -> AsyncGenerator[NewVoice]:
    """Reads the form of a create, its fields in any order. A context manager.

    A reference is on disk while the block lasts, under a name of ours; after it, or after any
    failure, it is gone unless the adapter moved it.

    Args:
        request: Its body must not have been read yet.
        staging: Where the reference is written.
        types: File types, in lower case, that the engine makes a voice from; may be none.
        can_blend: Whether the engine makes blends.
        limit_bytes: Most that the whole body may have.

    Raises:
        BadRequest: The body is too long or no form, or a field is unknown, missing, twice there
            or wrong.
        Unsupported: The engine makes no voice in this way, or from a file of this type.
        Internal: The disk is full, or the like.
        starlette.requests.ClientDisconnect: The client left first.
    """
    check_body_head(request, limit_bytes=limit_bytes, what=_WHAT)
    form = Form(request.headers.get("content-type", ""))
    upload = _Upload(staging, types, can_blend=can_blend)
    try:
        received_bytes = 0
        async for piece in request.stream():
            received_bytes += len(piece)
            if received_bytes > limit_bytes:
                raise BadRequest(
                    f"{_WHAT} may be {limit_bytes:,} bytes long, and this one is longer"
                )
            for event in form.feed(piece):
                await upload.take(event)
        form.finish()
        yield await upload.finish()
    finally:
        upload.close()


class _Upload:
    """What has come of a create."""

    def __init__(self, staging: Staging, types: Collection[str], *, can_blend: bool) -> None:
        self._staging = staging
        self._types = types
        self._can_blend = can_blend
        self._seen: set[str] = set()
        self._field = ""
        self._text: dict[str, bytearray] = {}
        self._reference: Staged | None = None
        self._is_absent = False
        """Whether the reference is what a form sends where no file was chosen."""
        self._is_unsupported = False
        """Whether a reference came to an engine that makes no voice from one."""
        self._pending = bytearray()
        self._size_bytes = 0

    async def take(self, event: FormEvent) -> None:
        """Goes on with what came next."""
        if isinstance(event, PartHead):
            await self._begin(event)
        elif isinstance(event, PartData):
            await self._add(event.data)

    async def finish(self) -> NewVoice:
        """Returns the voice that was asked for, its reference on the disk."""
        if self._reference is not None:
            await self._write()
            if not self._size_bytes:
                raise _bad(REFERENCE, "the file is empty")
        fields = {name: _decoded(name, bytes(value)) for name, value in self._text.items()}
        # Looked at last: two sources are a bad request, whatever the engine can do.
        is_blend = bool(fields.get("blend", "").strip())
        if is_blend and self._is_unsupported:
            raise sources_refused("both came")
        if self._is_unsupported:
            raise Unsupported(
                "reference: this engine makes no voice from a reference", field=REFERENCE
            )
        if is_blend and self._reference is None and not self._can_blend:
            raise Unsupported("blend: this engine makes no voice from a blend", field="blend")
        return NewVoice.from_fields(fields, self._reference)

    def close(self) -> None:
        """Removes the reference, unless it has been moved."""
        if self._reference is not None:
            self._reference.close()

    async def _begin(self, head: PartHead) -> None:
        known = (*TEXT_FIELDS, REFERENCE)
        if head.name not in known:
            raise _bad(head.name, f"no such field; there are {listed(sorted(known))}")
        if head.name in self._seen:
            raise _bad(head.name, "given twice")
        self._seen.add(head.name)
        self._field = head.name
        if head.name == REFERENCE:
            await self._begin_reference(head.filename)
        elif head.filename is not None:
            raise _bad(head.name, "is text, not a file")
        else:
            self._text[head.name] = bytearray()

    async def _begin_reference(self, filename: str | None) -> None:
        if filename is None:
            raise _bad(REFERENCE, "send a file, with a name whose ending says its type")
        if not filename:
            self._is_absent = True
            return
        file_type = _type_of(filename)
        self._is_unsupported = not self._types
        if self._is_unsupported:
            return
        if file_type not in self._types:
            raise Unsupported(
                f"reference: a file of type {file_type} is not one of {listed(self._types)}",
                field=REFERENCE,
            )
        with storing("the reference was not stored"):
            self._reference = await anyio.to_thread.run_sync(self._staging.stage, file_type)

    async def _add(self, data: bytes) -> None:
        if self._field != REFERENCE:
            text = self._text[self._field]
            text += data
            if len(text) > _TEXT_LIMIT_BYTES:
                raise _bad(self._field, f"may be {_TEXT_LIMIT_BYTES:,} bytes long, and is longer")
        elif self._is_absent:
            raise _bad(REFERENCE, "the file has no name; its ending says its type")
        elif not self._is_unsupported:
            self._pending += data
            self._size_bytes += len(data)
            if len(self._pending) >= _WRITE_BYTES:
                await self._write()

    async def _write(self) -> None:
        assert self._reference is not None
        data = bytes(self._pending)
        self._pending.clear()
        with storing("the reference was not stored"):
            await anyio.to_thread.run_sync(self._reference.write, data)


def _type_of(filename: str) -> str:
    """Returns the type that a filename ends in; nothing else of it is ever used."""
    found = _FILENAME.fullmatch(filename)
    if found is None:
        raise _bad(REFERENCE, f"{shown(filename)} is no plain filename that ends in a type")
    return found["type"].lower()


def _decoded(field: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise _bad(field, "is not UTF-8") from None


def _bad(field: str, why: str) -> BadRequest:
    named = field if field.isidentifier() and len(field) < 60 else shown(field)
    return BadRequest(f"{named}: {why}", field=named)
