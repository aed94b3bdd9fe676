"""What a worker serves: the engine-scoped part of the public API (contract § 1)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import rhapsode_contract as wire
from rhapsode_contract import (
    Capabilities,
    FetchRequest,
    Health,
    LoadRequest,
    Overloaded,
    Unsupported,
)
from rhapsode_http import exception_handlers, read_json, while_connected
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode_worker.abilities import Abilities
from rhapsode_worker.aside import Aside
from rhapsode_worker.capabilities import describe
from rhapsode_worker.conversation import dispatch_dialogue
from rhapsode_worker.dispatch import Utterance, dispatch
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.engine import Engine
from rhapsode_worker.failures import as_fetch_error
from rhapsode_worker.fetch_watch import fetch_watch
from rhapsode_worker.spoken import SpokenAudio
from rhapsode_worker.studio import Studio
from rhapsode_worker.voice_routes import VoiceRoutes

R = TypeVar("R", bound=wire.Request)

_FETCHES_AT_ONCE: Final = 4
"""Downloads, so that few are as fast as many; one that nobody waits for counts until it ends."""


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
        self._abilities = Abilities(engine)
        self._voices = VoiceRoutes(engine)
        self._fetches = Aside(_FETCHES_AT_ONCE)
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
                *self._voices.routes(),
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
        variant = wire.effective_variant(body.variant, self._studio.model.resident, known)
        with while_connected(request.scope):
            return _json(await self._studio.load(variant, self._health))

    async def unload(self, request: Request) -> Response:
        """`POST /unload`: idempotent; waits for what is speaking."""
        await _read_optional(request, _UnloadRequest)
        with while_connected(request.scope):
            return _json(await self._studio.unload(self._health))

    async def terminate(self, _: Request) -> Response:
        """`POST /terminate`: the same as SIGTERM, for who cannot send one."""
        self._drain.begin()
        return Response(status_code=202)

    async def fetch(self, request: Request) -> Response:
        """`POST /fetch`: the weights, on disk and no further."""
        body = await read_json(request, FetchRequest)
        if not self._abilities.can_fetch:
            raise Unsupported("this engine fetches nothing; its weights come with the first load")
        variant = wire.effective_variant(body.variant, None, self._describe().variants)
        if self._fetches.is_full:
            raise Overloaded(f"{_FETCHES_AT_ONCE} fetches run already; try again soon")
        with while_connected(request.scope), fetch_watch():
            # No engine thread, so that a download takes no turn from who speaks.
            await self._fetches.ask(lambda: self._engine.fetch(variant), as_fetch_error)
        return Response(status_code=204)

    async def speak(self, request: Request) -> Response:
        """`POST /speak`."""
        body = await read_json(request, wire.SpeakRequest)
        described = self._describe()
        utterance = dispatch(body, described)
        if body.voice is not None:
            await self._voices.check(request.scope, body.voice)
        return self._spoken(utterance)

    async def dialogue(self, request: Request) -> Response:
        """`POST /dialogue`."""
        body = await read_json(request, wire.DialogueRequest)
        if not self._abilities.has_dialogue:
            raise Unsupported("no variant of this engine performs dialogue")
        utterance = dispatch_dialogue(body, self._describe())
        for label, voice_id in (body.voices or {}).items():
            await self._voices.check(request.scope, voice_id, wire.voice_field(label))
        return self._spoken(utterance)

    def _spoken(self, utterance: Utterance) -> Response:
        native = self._studio.native_format(utterance.request.variant)
        return SpokenAudio(self._studio, self._encoders, utterance, native)

    def _health(self) -> Health:
        """Returns what is so now; called on the loop or on an engine thread."""
        model = self._studio.model
        return Health(
            process="draining" if self._drain.has_begun() else "up",
            model=model.state.value,
            variant=model.variant,
            device=str(self._engine.device),
            vram_bytes=model.used_bytes,
            model_bytes=model.size_bytes,
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


class _UnloadRequest(wire.Request):
    """Body of `POST /unload`: nothing that could be said."""


async def _read_optional(request: Request, model: type[R]) -> R:
    """Reads a JSON body where there is one, else returns the shape with nothing said."""
    has_body = request.headers.get("content-length", "0") != "0"
    if not has_body and "transfer-encoding" not in request.headers:
        return model()
    return await read_json(request, model)


def _json(shape: wire.Shape) -> Response:
    return Response(shape.to_json(), media_type="application/json")
