"""The voices of a worker over HTTP (contract § 7)."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar, cast

import anyio
from rhapsode_contract import (
    Internal,
    RhapsodeError,
    UnknownVoice,
    Unsupported,
    Voice,
    check_voice_id,
)
from rhapsode_http import while_connected
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from rhapsode_worker.abilities import Abilities
from rhapsode_worker.aside import Aside, change_aside
from rhapsode_worker.engine import Engine
from rhapsode_worker.failures import as_engine_error
from rhapsode_worker.voices import check_voice, checked_voices
from rhapsode_worker.voicing.new_voice import NewVoice
from rhapsode_worker.voicing.staging import Staging
from rhapsode_worker.voicing.upload import received_voice

logger = logging.getLogger(__name__)

T = TypeVar("T")

_QUESTIONS_AT_ONCE: Final = 16
"""To an adapter that may read a folder for each; more wait."""

_NO_LIST: Final = "the voices cannot be listed"


class VoiceRoutes:
    """Lists voices, plays them, makes them and takes them away, through the adapter.

    The adapter owns its voices; nothing is remembered here. It is asked away from the event loop,
    since it may read a folder.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._abilities = Abilities(engine)
        self._complained: set[str] = set()
        self._aside = Aside(_QUESTIONS_AT_ONCE)
        # An adapter need not think of two changes at once.
        self._changes = anyio.CapacityLimiter(1)

    def routes(self) -> list[Route]:
        """Returns what an application serves."""
        return [
            Route("/voices", self.voices, methods=["GET", "POST"]),
            Route("/voices/{voice}", self.delete, methods=["DELETE"]),
            Route("/voices/{voice}/preview", self.preview),
        ]

    async def voices(self, request: Request) -> Response:
        """`GET /voices`, and `POST /voices` to make one."""
        if request.method == "POST":
            return await self._create(request)
        listed = await self._asked(request.scope, self._listed, _NO_LIST)
        body = json.dumps([voice.to_object() for voice in listed]).encode()
        return Response(body, media_type="application/json")

    async def delete(self, request: Request) -> Response:
        """`DELETE /voices/{id}`."""
        voice_id = await self._known(request)
        if not self._abilities.can_delete:
            raise Unsupported(
                f"id: {voice_id!r} cannot be deleted; this engine's voices are its own", field="id"
            )
        await self._change(
            lambda: self._engine.delete_voice(voice_id), "the voice cannot be deleted"
        )
        return Response(status_code=204)

    async def preview(self, request: Request) -> Response:
        """`GET /voices/{id}/preview`: never made, only found."""
        voice_id = await self._known(request)
        audio = await self._asked(
            request.scope, lambda: self._preview(voice_id), "the preview cannot be read"
        )
        if audio is None:
            raise Unsupported(f"id: the voice {voice_id!r} has no preview", field="id")
        return Response(audio, media_type="audio/wav")

    async def check(self, scope: Scope, voice_id: str, field: str = "voice") -> None:
        """Holds the voice of a request, whose body has been read, against those there are.

        Raises:
            ListenerLeft: The client left first.
            BadRequest: It is no id.
            UnknownVoice: There is none of that id.
        """
        check_voice_id(voice_id, field)
        voices = await self._asked(scope, self._offered, _NO_LIST)
        check_voice(voice_id, voices, field)

    async def _create(self, request: Request) -> Response:
        can = self._abilities
        if not can.can_clone and not can.can_blend:
            raise Unsupported("this engine makes no voices")
        types = self._engine.reference_formats if can.can_clone else ()
        async with received_voice(
            request, Staging(self._engine.voice_dir), types=types, can_blend=can.can_blend
        ) as new:
            if new.blend is not None:
                for voice_id, _ in new.blend.parts:
                    await self.check(request.scope, voice_id, "blend")
            made = await self._change(lambda: self._made(new), "the voice cannot be made")
        return Response(made.to_json(), status_code=201, media_type="application/json")

    def _made(self, new: NewVoice) -> Voice:
        """Makes a voice and returns it as it is listed, before another change can take it away.

        Raises:
            Internal: It is not listed.
        """
        self._make(new)
        for voice in self._listed():
            if voice.id == new.id:
                return voice
        raise Internal(f"the engine does not list the voice it made, {new.id!r}")

    def _make(self, new: NewVoice) -> None:
        if new.blend is not None:
            self._engine.blend_voice(new)
        else:
            self._engine.create_voice(new)

    def _offered(self) -> list[Voice]:
        """Returns the adapter's voices but those that no request could name; logs these once."""
        voices, wrong = checked_voices(self._engine.voices())
        for what in wrong:
            if what not in self._complained:
                self._complained.add(what)
                logger.error("voices(): %s; it is left out", what)
        return voices

    def _listed(self) -> list[Voice]:
        """Returns the adapter's voices, each with its preview's place where it has one."""
        voices = self._offered()
        if not self._abilities.has_previews:
            return voices
        return [
            voice.model_copy(update={"preview_url": f"/voices/{voice.id}/preview"})
            if self._preview_path(voice.id) is not None
            else voice
            for voice in voices
        ]

    def _preview(self, voice_id: str) -> bytes | None:
        path = self._preview_path(voice_id) if self._abilities.has_previews else None
        if path is None:
            return None
        audio = path.read_bytes()
        if not (audio.startswith(b"RIFF") and audio[8:12] == b"WAVE"):
            raise ValueError(f"preview() of {voice_id!r} gave a file that is no WAV")
        return audio

    def _preview_path(self, voice_id: str) -> Path | None:
        try:
            path = cast(object, self._engine.preview(voice_id))
        except UnknownVoice:  # deleted since it was listed; the list must not fail for it
            return None
        if path is not None and not isinstance(path, Path):
            raise TypeError(f"preview() gave {type(path).__name__}, not a Path")
        return path

    async def _known(self, request: Request) -> str:
        voice_id: str = request.path_params["voice"]
        await self.check(request.scope, voice_id, "id")
        return voice_id

    async def _change(self, change: Callable[[], T], otherwise: str) -> T:
        """Changes the voices, one change at a time and to its end, even if nobody waits for it."""
        return await change_aside(change, _as_failure(otherwise), limiter=self._changes)

    async def _asked(self, scope: Scope, ask: Callable[[], T], otherwise: str) -> T:
        with while_connected(scope):
            return await self._aside.ask(ask, _as_failure(otherwise))


def _as_failure(otherwise: str) -> Callable[[BaseException], RhapsodeError]:
    return lambda error: as_engine_error(error, otherwise)
