"""What a worker serves: the engine-scoped part of the public API (contract § 1)."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio.to_thread
import rhapsode_contract as wire
from rhapsode_contract import (
    Capabilities,
    FetchRequest,
    Health,
    LoadRequest,
    Unsupported,
    Voice,
    check_voice_id,
)
from rhapsode_http import exception_handlers, read_json
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode_worker.capabilities import describe
from rhapsode_worker.dispatch import dispatch
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.engine import Engine
from rhapsode_worker.failures import as_engine_error
from rhapsode_worker.spoken import SpokenAudio
from rhapsode_worker.studio import Studio
from rhapsode_worker.voices import check_voice

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=wire.Request)


@dataclass(frozen=True)
class Drain:
    """The way out of this process, and whether it is being taken."""

    begin: Callable[[], None]

    has_begun: Callable[[], bool]


class Routes:
    """The handlers, over one engine."""

    def __init__(
        self, engine: Engine, studio: Studio, encoders: EncoderPool, contract: int, drain: Drain
    ) -> None:
        """Args:
        engine: The adapter.
        studio: Where it works.
        encoders: What its formats are made with.
        contract: The version this worker answers at.
        drain: What `/terminate` begins.
        """
        self._engine = engine
        self._studio = studio
        self._encoders = encoders
        self._contract = contract
        self._drain = drain
        self._documents: dict[str | None, Capabilities] = {}

    def app(self) -> Starlette:
        """Returns the application that serves them."""
        app = Starlette(
            routes=[
                Route("/health", self.health),
                Route("/capabilities", self.capabilities),
                Route("/load", self.load, methods=["POST"]),
                Route("/unload", self.unload, methods=["POST"]),
                Route("/terminate", self.terminate, methods=["POST"]),
                Route("/fetch", self.fetch, methods=["POST"]),
                Route("/speak", self.speak, methods=["POST"]),
                Route("/dialogue", self.dialogue, methods=["POST"]),
                Route("/voices", self.voices, methods=["GET", "POST"]),
                Route("/voices/{voice}", self.delete_voice, methods=["DELETE"]),
                Route("/voices/{voice}/preview", self.preview),
            ],
            exception_handlers=exception_handlers(),
        )
        # `/health/` is a route nobody serves, and its answer an envelope, not a redirection.
        app.router.redirect_slashes = False
        return app

    async def health(self, _: Request) -> Response:
        """`GET /health`: process and model, which are two questions."""
        return _json(self._health())

    async def capabilities(self, _: Request) -> Response:
        """`GET /capabilities`."""
        return _json(self._describe())

    async def load(self, request: Request) -> Response:
        """`POST /load`: idempotent."""
        body = await _read_optional(request, LoadRequest)
        known = self._describe().variants
        await self._studio.load(
            wire.effective_variant(body.variant, self._studio.model.resident, known)
        )
        return _json(self._health())

    async def unload(self, _: Request) -> Response:
        """`POST /unload`: idempotent; waits for what is speaking."""
        await self._studio.unload()
        return _json(self._health())

    async def terminate(self, _: Request) -> Response:
        """`POST /terminate`: the same as SIGTERM, for who cannot send one."""
        self._drain.begin()
        return Response(status_code=202)

    async def fetch(self, request: Request) -> Response:
        """`POST /fetch`."""
        await read_json(request, FetchRequest)
        raise Unsupported("this engine fetches nothing; its weights come with the first load")

    async def speak(self, request: Request) -> Response:
        """`POST /speak`."""
        body = await read_json(request, wire.SpeakRequest)
        described = self._describe()
        utterance = dispatch(body, described)
        if body.voice is not None:
            check_voice(check_voice_id(body.voice), await self._voices())
        native = self._studio.native_format(utterance.request.variant)
        return SpokenAudio(self._studio, self._encoders, utterance, native)

    async def dialogue(self, request: Request) -> Response:
        """`POST /dialogue`."""
        await read_json(request, wire.DialogueRequest)
        raise Unsupported("no variant of this engine performs dialogue")

    async def voices(self, request: Request) -> Response:
        """`GET /voices`, and `POST /voices` to make one."""
        if request.method == "POST":
            raise Unsupported("this engine makes no voices")
        return _json([voice.to_object() for voice in await self._voices()])

    async def delete_voice(self, request: Request) -> Response:
        """`DELETE /voices/{id}`."""
        await self._check_voice(request)
        raise Unsupported("this engine's voices are its own; none can be deleted")

    async def preview(self, request: Request) -> Response:
        """`GET /voices/{id}/preview`."""
        await self._check_voice(request)
        raise Unsupported("this voice has no preview")

    def _health(self) -> Health:
        model = self._studio.model
        return Health(
            process="draining" if self._drain.has_begun() else "up",
            model=model.state.value,
            variant=model.variant,
            device=str(self._engine.device),
        )

    def _describe(self) -> Capabilities:
        """Returns the document as it stands; made once for each variant, and once for none."""
        resident = self._studio.model.resident
        if resident not in self._documents:
            self._documents[resident] = describe(
                self._engine,
                contract=self._contract,
                device=self._engine.device,
                formats=self._encoders.formats,
                resident=resident,
            )
        return self._documents[resident]

    async def _voices(self) -> list[Voice]:
        """Asks the adapter, away from the event loop: it may read a folder."""
        try:
            # Left behind where nobody waits any more: a drain must not wait for it for ever.
            return await anyio.to_thread.run_sync(self._engine.voices, abandon_on_cancel=True)
        except Exception as error:
            logger.exception("listing voices failed")
            failure = as_engine_error(error, "the voices cannot be listed")
        raise failure

    async def _check_voice(self, request: Request) -> None:
        voice_id = check_voice_id(request.path_params["voice"], field="id")
        check_voice(voice_id, await self._voices(), field="id")


async def _read_optional(request: Request, model: type[R]) -> R:
    """Reads a JSON body where there is one, else returns the shape with nothing said."""
    has_body = request.headers.get("content-length", "0") != "0"
    if not has_body and "transfer-encoding" not in request.headers:
        return model()
    return await read_json(request, model)


def _json(value: wire.Shape | list[dict[str, Any]]) -> Response:
    body = value.to_json() if isinstance(value, wire.Shape) else json.dumps(value).encode()
    return Response(body, media_type="application/json")
