"""A whole worker without the SDK, that breaks the one promise it is told to.

On the standard library alone, as a stranger's may be: nothing in it is right because the code that
checks it is.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from . import empty_containers, encoders, tones
from .declared import AAC, IN_PIECES, PIECE_CHARACTERS, VOICES, document, variants_of
from .performer import Performer
from .raw_voices import RawVoices
from .refusal import Refusal
from .requests import Checker, Said

SIMPLE = {"4.blending.absent", "7.create.impossible"}
"""Promises that only a worker which makes no voices can break."""

LOADS_SLOWLY = "loads slowly"
"""What is told to a worker to take a second for each load, which it may."""
NO_LINE = "no line"
"""What is told to a worker to refuse whoever comes while it speaks, which it may."""
ROUNDS = "rounds"
"""What is told to it to round otherwise where it speaks several at once, which it may."""
STALLS = "stalls"
"""What is told to it to say nothing of a long text, and to keep nobody else waiting for that."""
MUTE = "mute"
"""What is told to it to speak nothing, as one that does not find its weights."""
NO_LONG_TEXT = "no long text"
"""What is told to it to refuse a long text, although its limit leaves room for it."""
_LOADS_SECONDS = 1.0
_IDLE_SECONDS = 0.3
_STOPS_SECONDS = 0.1
_LONG_CHARACTERS = 1000

_TYPES = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "opus": "audio/opus",
    "flac": "audio/flac",
    "pcm": "audio/L16; rate=8000; channels=1",
    AAC: "audio/aac",
}
SAMPLES_AS_MP3 = "6.format.content-type: streamed"
_METHODS = {
    "/health": "GET",
    "/capabilities": "GET",
    "/voices": "GET POST",
    "/load": "POST",
    "/unload": "POST",
    "/terminate": "POST",
    "/fetch": "POST",
    "/speak": "POST",
    "/dialogue": "POST",
}
_PIECE_BYTES = 8000
_ENDLESS_BYTES = 1_000_000

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_TEXT = {"content-type": "text/plain"}
_JSON = {"content-type": "application/json"}


class RawWorker:
    """An ASGI app."""

    def __init__(
        self,
        broken: str | None,
        *,
        contract: int = 1,
        drain: Callable[[], None] = lambda: None,
        voice_dir: str | None = None,
    ) -> None:
        """Args:
        broken: The id of the promise to break; None breaks none.
        contract: What the capabilities say.
        drain: What `/terminate` begins.
        voice_dir: Where voices that are made outlive the worker; None: nowhere.
        """
        self._broken = broken
        self._contract = contract
        self._drain = drain
        self.is_draining = False
        """Whether everything that is no GET is refused."""
        makes_voices = broken not in SIMPLE
        self._variants = variants_of(self._breaks, makes_voices=makes_voices)
        self._checker = Checker(self._breaks, self._variants)
        self._voices = RawVoices(
            self._breaks,
            self._checker,
            makes_voices=makes_voices,
            folder=None if self._breaks("7.create.kept") else voice_dir,
        )
        self._performer = Performer(self._breaks, self._checker, self._voices)
        self._resident = "plain" if self._breaks("3.start.loads-nothing") else None
        self._has_just_unloaded = False
        self._asked = 0.0
        self._speaking = 0
        self._idle = asyncio.Event()
        self._loaded = asyncio.Event()
        self._loaded.set()
        self._last: tuple[Said, int] | None = None
        self._has_no_line = broken in {NO_LINE, "d.queue.hang-up"}

    @property
    def is_speaking(self) -> bool:
        """Whether an utterance is on its way."""
        return self._speaking > 0

    async def falls_silent(self) -> None:
        """Waits until nothing is spoken."""
        while self._speaking:
            await self._idle.wait()

    def _breaks(self, promise_id: str) -> bool:
        return promise_id == self._broken

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError("only HTTP")
        self._forget_what_is_idle()
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        try:
            await self._route(scope, body, send)
        except Refusal as refusal:
            await self._answer(send, refusal.status, refusal.headers, refusal.body)

    def _forget_what_is_idle(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._breaks("3.policy.worker-obeys") and now - self._asked > _IDLE_SECONDS:
            self._resident = None
        self._asked = now

    async def _route(self, scope: Scope, body: bytes, send: Send) -> None:
        method, path = scope["method"], unquote(scope["raw_path"].decode())
        headers = {k.decode(): v.decode() for k, v in scope["headers"]}
        if method == "POST":
            has_just_unloaded, self._has_just_unloaded = self._has_just_unloaded, False
        else:
            has_just_unloaded = False
        if path.startswith("/voices/"):
            await self._one_voice(method, path, send)
            return
        self._check_route(method, path)
        if self.is_draining and method == "POST" and not self._breaks("2.stop.refuses"):
            raise self._leaving()
        kind = headers.get("content-type", "application/json")
        if path == "/voices" and method == "POST":
            await self._json(send, self._voices.create(body), status=201)
            if self._breaks("7.create.loads-nothing"):
                self._resident = "plain"
            if self._breaks("7.create.loads-nothing: evicts"):
                self._resident = None
            return
        fields = self._checker.read(body, kind)
        if path in {"/speak", "/dialogue"}:
            await self._speak(path, fields, send)
        elif path == "/load":
            await self._load(fields, send, is_refused=has_just_unloaded)
        else:
            await self._plainly(path, fields, send)

    def _leaving(self) -> Refusal:
        if self._breaks("6.errors.overloaded"):
            return Refusal("model_unavailable", "leaving")
        refusal = Refusal("overloaded", "leaving")
        if self._breaks("d.errors.retry-after"):
            del refusal.headers["retry-after"]
        return refusal

    def _check_route(self, method: str, path: str) -> None:
        allowed = _METHODS.get(path)
        if allowed is None:
            if method == "POST" and self._breaks("d.errors.everywhere"):
                refusal = Refusal("bad_request", "", status=404)
                refusal.headers, refusal.body = _TEXT, b"nothing here"
                raise refusal
            status = 400 if method == "GET" and self._breaks("d.errors.unknown-route") else 404
            raise Refusal("bad_request", "nobody serves that", status=status)
        if method not in allowed.split():
            if path == "/terminate" and self._breaks("1.routes.worker"):
                raise Refusal("bad_request", "nobody serves that", status=404)
            said = {} if self._breaks("d.errors.method") else {"allow": ", ".join(allowed.split())}
            raise Refusal("bad_request", "not that way", status=405, headers=said)

    async def _one_voice(self, method: str, path: str, send: Send) -> None:
        is_preview = path.endswith("/preview") and method == "GET"
        voice_id = path.removeprefix("/voices/").removesuffix("/preview" if is_preview else "")
        if method == "DELETE":
            self._voices.delete(voice_id)
            await self._answer(send, 200 if self._breaks("7.create.route") else 204, {}, b"")
            return
        is_blind = self._breaks("6.errors.unknown-voice: heard")
        if is_blind:
            self._checker.check_id(voice_id)
        is_lax = is_blind or self._breaks("7.id.grammar: of a preview")
        if voice_id not in self._voices.listed and is_lax:
            raise Refusal("unsupported", "no preview")
        self._voices.check(voice_id)
        if "previewUrl" not in self._voices.listed[voice_id]:
            raise Refusal("unsupported", "no preview")
        if self._breaks("d.preview.no-model"):
            self._resident = "plain"
        is_junk = self._breaks("d.preview.no-model: no WAV")
        sample = (
            b"oops" if is_junk else empty_containers.wav(tones.tone(VOICES[voice_id], 0.5, 300))
        )
        await self._answer(send, 200, {"content-type": "audio/wav"}, sample)

    async def _plainly(self, path: str, fields: dict[str, Any], send: Send) -> None:
        if path == "/health":
            if self._speaking and self._breaks("d.queue.responsive"):
                await self._idle.wait()
            await self._json(send, self._health())
        elif path == "/capabilities":
            await self._loaded.wait()
            said = document(self._breaks, self._variants, self._resident, self._contract)
            await self._json(send, said)
        elif path == "/voices":
            if self._breaks("d.listing.no-model"):
                self._resident = "plain"
            await self._json(send, list(self._voices.listed.values()))
        elif path == "/unload":
            await self._unload(send)
        elif path == "/fetch":
            await self._fetch(fields, send)
        else:
            self.is_draining = True
            self._drain()
            await self._answer(send, 200 if self._breaks("2.stop.terminate") else 202, {}, b"")

    def _health(self) -> dict[str, Any]:
        is_up = "running" if self._breaks("3.health.both") else "up"
        is_hidden = self._breaks("d.drain.reads")
        said: dict[str, Any] = {
            "process": "draining" if self.is_draining and not is_hidden else is_up,
            "model": "unloaded" if self._resident is None else "loaded",
            "device": "cpu",
        }
        if self._resident is not None:
            said["variant"] = self._resident
            if self._breaks("3.health.model-bytes-honest"):
                said["modelBytes"] = 0
        if self._breaks("vram of nothing"):
            said["vramBytes"] = 0 if self._resident is None else 1000
        if self._breaks("3.health.vram"):
            said["vramBytes"] = -1
        if self._breaks("d.json.camel-case"):
            said["card_name"] = "none"
        return said

    async def _load(self, fields: dict[str, Any], send: Send, *, is_refused: bool) -> None:
        if is_refused and self._breaks("3.unload.keeps-process"):
            raise Refusal("internal", "once is enough")
        variant = fields.get("variant", "plain")
        if variant not in self._variants:
            if not self._breaks("d.codes.variant: loaded"):
                raise Refusal("unsupported", "variant: there is none")
            variant = "plain"
        if variant == "ghost":
            raise Refusal("model_unavailable", "its weights are nowhere")
        if self._breaks(LOADS_SLOWLY):
            await asyncio.sleep(_LOADS_SECONDS)
        if self._breaks("d.queue.responsive: while it loads"):
            self._loaded = asyncio.Event()
            await asyncio.sleep(_LOADS_SECONDS)
            self._loaded.set()
        self._resident = variant
        await self._json(send, {} if self._breaks("d.verbs.answers") else self._health())

    async def _unload(self, send: Send) -> None:
        if self._resident is None and self._breaks("3.unload.idempotent"):
            raise Refusal("conflict", "nothing is loaded")
        self._resident = None
        self._has_just_unloaded = True
        await self._json(send, self._health())

    async def _fetch(self, fields: dict[str, Any], send: Send) -> None:
        if self._breaks("8.fetch.optional"):
            raise Refusal("internal", "what is that?")
        if fields.get("variant") not in self._variants:
            raise Refusal("unsupported" if fields else "bad_request", "variant: there is none")
        if self._breaks("8.fetch.downloads"):
            self._resident = str(fields["variant"])
        await self._answer(send, 204, {}, b"")

    # --- Speaking -------------------------------------------------------------------------------

    async def _speak(self, path: str, fields: dict[str, Any], send: Send) -> None:
        is_talk = path == "/dialogue"
        check = self._checker.talk if is_talk else self._checker.speak
        said = check(fields, self._resident)
        self._check_voices(fields, is_talk=is_talk)
        if self._breaks(MUTE):
            raise Refusal("model_unavailable", "its weights are nowhere")
        is_long = sum(len(text) for _, text in said.lines) > _LONG_CHARACTERS
        if is_long and self._breaks(STALLS):
            await asyncio.Event().wait()
        if is_long and self._breaks(NO_LONG_TEXT):
            raise Refusal("bad_request", "text: too long for me")
        self._resident = None if self._breaks("3.speak.loads") else said.variant
        if self._has_no_line and self._speaking:
            raise Refusal("overloaded", "one at a time")
        seed = int(fields.get("seed", 0))
        self._last = (said, seed)
        self._speaking += 1
        try:
            await asyncio.sleep(0)  # where another request may come between
            if self._breaks("8.serial.default"):
                said, seed = self._last
            pcm = self._performer.pcm(said, seed)
            if self._breaks(ROUNDS) and self._speaking > 1:
                pcm = bytes([pcm[0] ^ 1]) + pcm[1:]
            await self._send_audio(said, pcm, send)
        finally:
            await self._fall_silent(is_long=is_long)

    def _check_voices(self, fields: dict[str, Any], *, is_talk: bool) -> None:
        named = list(fields.get("voices", {}).values()) if is_talk else [fields.get("voice")]
        if is_talk and self._breaks("6.dialogue.unknown-voice"):
            for name in filter(None, named):
                self._checker.check_id(name)
            named = []
        if is_talk and self._breaks("7.id.grammar: in a dialogue"):
            named = [name if name in self._voices.listed else "nobody" for name in named]
        for voice_id in named:
            is_let_by = voice_id == "no-such-voice-1" and self._breaks("7.unknown.no-substitute")
            if voice_id is not None and not (is_let_by and not is_talk):
                self._voices.check(voice_id)
            if voice_id == "high" and self._breaks("6.speak.voice"):
                raise Refusal("unknown_voice", "voice: not this one")

    async def _fall_silent(self, *, is_long: bool) -> None:
        if self._has_no_line and is_long:
            if self._breaks("d.queue.hang-up"):
                return
            await asyncio.sleep(_STOPS_SECONDS)  # as a model that is not stopped at once
        self._speaking -= 1
        if not self._speaking:
            self._idle.set()
            self._idle = asyncio.Event()

    async def _send_audio(self, said: Said, pcm: bytes, send: Send) -> None:
        duration = round(len(pcm) / 2 / tones.RATE_HZ * 1000)
        headers = {"content-type": self._content_type(said.format)}
        body = self._encoded(said, pcm)
        if said.streams and not self._breaks("6.stream.chunked"):
            if not self._breaks("d.stream.headers"):
                headers |= {"cache-control": "no-store", "x-accel-buffering": "no"}
            if self._breaks("6.duration.trailer"):
                duration += 1000
            await self._stream(send, headers, body, {"x-rhapsode-duration-ms": str(duration)})
            return
        if said.streams:
            headers |= {"cache-control": "no-store", "x-accel-buffering": "no"}
        if said.format in {"wav", "pcm"} and self._breaks("6.duration.header"):
            duration += 1000
        headers["x-rhapsode-duration-ms"] = str(duration)
        if said.fields.get("stream") is False and self._breaks("6.buffer.content-length"):
            await self._stream(send, headers, body, {})
            return
        await self._answer(send, 200, headers, body)

    def _content_type(self, form: str) -> str:
        if form == "opus" and self._breaks("6.format.opus"):
            return "audio/ogg"
        if form == "wav" and self._breaks("d.formats.types"):
            return "audio/x-wav"
        return _TYPES[form]

    def _encoded(self, said: Said, pcm: bytes) -> bytes:
        if said.streams and said.format == "pcm" and self._breaks("d.segments.mode-free"):
            return pcm[::-1]
        if said.format == "pcm" or said.format == AAC:
            return pcm
        if said.streams and said.format == "mp3" and self._breaks(SAMPLES_AS_MP3):
            return pcm
        if said.format != "wav" and not (
            said.format == "mp3" and self._breaks("6.format.content-type")
        ):
            return self._coded(said.format, pcm, streams=said.streams)
        unknown = 0xFFFFFFFF
        if said.streams:
            size = 0 if self._breaks("d.formats.wav-streamed") else unknown
            framing = b"\0" if self._breaks("1.transport.chunked") else b""
            return empty_containers.wav(pcm, riff_size=size, data_size=size) + framing
        if self._breaks("d.formats.wav-buffered"):
            return empty_containers.wav(pcm, riff_size=unknown, data_size=unknown)
        return empty_containers.wav(pcm)

    def _coded(self, form: str, pcm: bytes, *, streams: bool) -> bytes:
        is_mute = streams and self._breaks("6.format.heard: streamed")
        if is_mute or self._breaks("6.format.heard"):
            return empty_containers.MAKERS[form](pcm)
        flaw = "6.format.heard: streamed in part" if streams else "6.format.content-type: cut"
        is_cut = form == "mp3" and self._breaks(flaw)
        return encoders.encoded(form, pcm[: len(pcm) // 4] if is_cut else pcm)

    # --- Sending --------------------------------------------------------------------------------

    async def _json(self, send: Send, value: object, *, status: int = 200) -> None:
        await self._answer(send, status, _JSON, json.dumps(value).encode())

    async def _answer(self, send: Send, status: int, headers: dict[str, str], body: bytes) -> None:
        await self._start(send, status, headers | {"content-length": str(len(body))}, {})
        await send({"type": "http.response.body", "body": body})

    async def _stream(
        self, send: Send, headers: dict[str, str], body: bytes, trailers: dict[str, str]
    ) -> None:
        await self._start(send, 200, headers, trailers)
        is_one = self._breaks("6.stream.chunked: one chunk")
        most = len(body) if is_one else _PIECE_BYTES
        if self._breaks(IN_PIECES):
            most = PIECE_CHARACTERS * tones.MS_PER_CHARACTER * tones.RATE_HZ // 1000 * 2
        for at in range(0, len(body), most):
            piece = body[at : at + most]
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)
        while self._breaks("endless"):
            silence = bytes(_ENDLESS_BYTES)
            await send({"type": "http.response.body", "body": silence, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        if trailers:
            await send({"type": "http.response.trailers", "headers": _raw(trailers)})

    async def _start(
        self, send: Send, status: int, headers: dict[str, str], trailers: dict[str, str]
    ) -> None:
        named = {} if self._breaks("d.request-id.answered") else {"x-request-id": "raw"}
        start = {"status": status, "headers": _raw(headers | named), "trailers": bool(trailers)}
        await send({"type": "http.response.start", **start})


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
