"""The voices of an engine, as its worker lists them (contract § 7)."""

import json
from collections.abc import AsyncGenerator, AsyncIterable
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import quote

from pydantic_core import from_json
from rhapsode_contract import Internal, check_voice_id, read_error
from rhapsode_contract.quoting import shown
from rhapsode_http import UpstreamError

from rhapsode.residency.manager import ResidencyManager
from rhapsode.workers.clock import Clock
from rhapsode.workers.fleet import Fleet
from rhapsode.workers.session import Answer, Session, read_whole

_VOICE_BYTES: Final = 64 * 1024
"""More than one voice holds."""


class Voices:
    """Passes questions about voices on. Keeps no list: a second one could only be wrong."""

    def __init__(self, fleet: Fleet, residency: ResidencyManager, create_seconds: float) -> None:
        """Args:
        fleet: Whose they are.
        residency: Told that a process is wanted while a voice is on its way to it.
        create_seconds: What a worker may take over each piece of an upload, and from its end to
            the answer.
        """
        self._fleet = fleet
        self._residency = residency
        self._create_seconds = create_seconds

    async def listed(self, engine: str) -> bytes:
        """Returns the JSON list of an engine's voices. May start its process, never its model.

        Raises:
            RhapsodeError: The engine is unknown, or its worker does not say.
        """
        session = await self._fleet.worker(engine).ensure_up()
        return with_public_previews((await session.ask("GET", "/voices")).body, engine)

    async def preview(self, engine: str, voice: str) -> Answer:
        """Returns a sample of a voice. Loads no model.

        Raises:
            RhapsodeError: The engine or the voice is unknown, or there is no sample.
        """
        check_voice_id(voice, "id")
        session = await self._fleet.worker(engine).ensure_up()
        answer = await session.ask("GET", f"/voices/{voice}/preview")
        if not answer.content_type.lower().startswith("audio/"):
            raise Internal(
                f"the engine's preview of {voice!r} has the type {shown(answer.content_type)},"
                " which is no audio"
            )
        return answer

    async def create(
        self, engine: str, headers: list[tuple[bytes, bytes]], form: AsyncIterable[bytes]
    ) -> bytes:
        """Passes a create on as it arrives, and returns the new voice as JSON. Loads no model and
        takes no place on the card (§ 7).

        Args:
            engine: Whose voice it becomes.
            headers: What the form is: its type, and its length where that is known.
            form: The body of the request. An error of it passes through, and ends the create.

        Raises:
            RhapsodeError: The engine is unknown, or its worker refused or failed.
            ForeignError: It refused with a code that we do not know.
        """
        worker = self._fleet.worker(engine)
        with self._residency.visit(engine):
            return await self._create(await worker.ensure_up(), headers, form)

    async def _create(
        self, session: Session, headers: list[tuple[bytes, bytes]], form: AsyncIterable[bytes]
    ) -> bytes:
        clock, seconds = Clock(), self._create_seconds
        late = partial(session.too_slow, "a new voice", seconds)

        async def sent() -> AsyncGenerator[bytes]:
            async for piece in form:
                clock.start(seconds, late)
                yield piece
                clock.stop()  # from here on it is the client who is waited for
            clock.start(seconds, late)

        with clock.running():
            try:
                async with await session.open("POST", "/voices", sent(), headers) as response:
                    body = await read_whole(response, _VOICE_BYTES)
            except UpstreamError as error:
                raise await session.explain(error) from None
            if response.status >= HTTPStatus.BAD_REQUEST:
                raise read_error(response.status, body)
            return with_public_preview(body, session.engine)
        raise AssertionError("unreachable: the clock raises where it cuts a block off")

    async def delete(self, engine: str, voice: str) -> None:
        """Deletes a voice. Loads no model.

        Raises:
            RhapsodeError: The engine or the voice is unknown, or it is the engine's own.
            ForeignError: The worker refused with a code that we do not know.
        """
        check_voice_id(voice, "id")
        session = await self._fleet.worker(engine).ensure_up()
        await session.ask("DELETE", f"/voices/{voice}")


def with_public_preview(body: bytes, engine: str) -> bytes:
    """Returns a worker's voice with its `previewUrl` as the public API has it.

    Raises:
        Internal: It is no voice.
    """
    return _written(_with_public_preview(_read(body), engine))


def with_public_previews(body: bytes, engine: str) -> bytes:
    """Returns a worker's list with each `previewUrl` as the public API has it, nothing else edited.

    A worker can't know its own prefix.

    Raises:
        Internal: It is no list of voices.
    """
    voices = _read(body)
    if not isinstance(voices, list):
        raise _wrong_shape("it is no list")
    rewritten = [_with_public_preview(voice, engine) for voice in cast("list[object]", voices)]
    return _written(rewritten)


def _read(body: bytes) -> object:
    # Not Python's own reader: that one sets no bound to the depth and takes halves of a surrogate
    # pair, and both would only fail when they are written.
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise _wrong_shape(str(error)) from None


def _wrong_shape(why: str) -> Internal:
    return Internal(f"the engine's answer to /voices has a wrong shape: {why}")


def _written(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _with_public_preview(voice: object, engine: str) -> dict[str, Any]:
    if not isinstance(voice, dict):
        raise _wrong_shape("it is, or holds, what is no voice")
    fields = cast("dict[str, Any]", voice)
    if fields.get("previewUrl") is None or not isinstance(fields.get("id"), str):
        return fields
    path = f"/engines/{quote(engine, safe='')}/voices/{quote(fields['id'], safe='')}/preview"
    return {**fields, "previewUrl": path}
