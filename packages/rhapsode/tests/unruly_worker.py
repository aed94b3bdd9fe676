"""A worker that does what the text of a request says, right or wrong. Not made with our SDK.

Written on bare sockets, because it has to break what every library keeps.
"""

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PIECE = b"\x01\x02" * 256
MODELS: dict[str, Any] = {"cues": [], "deliveries": [], "dials": {}, "maxCharacters": 50}
CAPABILITIES: dict[str, Any] = {
    "contract": 1,
    "engine": {"id": "unruly", "displayName": "Unruly", "adapterVersion": "1"},
    "license": {"code": "MIT", "weights": "none", "weightsCommercialUse": True},
    "device": {"type": "cpu", "name": "cpu"},
    "variants": {"only": MODELS},
    "formats": ["wav"],
}
CURRENT: dict[str, Any] = {
    "variant": "only",
    "streaming": {"supported": True},
    "nativeFormat": {"encoding": "pcm_s16le", "sampleRate": 100, "channels": 1},
    **MODELS,
}
VOICES = [
    {"id": "v_1", "label": "V", "spec": "s", "previewUrl": "/voices/v_1/preview", "extra": 1},
    {"id": "v_2", "label": "W", "spec": "t"},
]
STREAMS = {
    "whole": ([PIECE, PIECE], "whole"),
    "bare": ([PIECE, PIECE], "bare"),
    "short": ([PIECE[:100], PIECE[:155]], "whole"),
    "flood": ([PIECE * 64] * 40, "whole"),
    "cut": ([PIECE, PIECE], "cut"),
    "stall": ([PIECE], "stall"),
    "drip": ([PIECE], "drip"),
}


class Connection:
    """One request and its answer at a time."""

    is_loaded = False
    is_babbling = False
    """From now on nothing it says is HTTP."""
    at_unload = ""
    """`die` or `hang`."""
    listening: asyncio.Server

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def serve(self) -> None:
        while head := await self.reader.readuntil(b"\r\n\r\n"):
            first, *lines = head.decode().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines if line)
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
            method, target, _ = first.split(" ")
            if not await self.answer(method, target, headers, body):
                self.writer.close()
                return

    async def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> bool:
        """Answers; returns whether the connection may be used again."""
        if Connection.is_babbling:
            self.writer.write(b"\xff\x00 what did you say?\r\n\r\n")
            return False
        match method, target:
            case "GET", "/health":
                model = "loaded" if Connection.is_loaded else "unloaded"
                self.json(200, {"process": "up", "model": model, "device": "cpu"})
            case "POST", "/unload":
                await self.unload()
            case "GET", "/capabilities":
                current = {"current": CURRENT} if Connection.is_loaded else {}
                self.json(200, CAPABILITIES | current)
            case "GET", "/voices":
                self.json(200, VOICES)
            case "GET", "/voices/v_1/preview":
                self.head(200, "audio/wav", "Content-Length: 512")
                self.writer.write(PIECE)
            case "GET", "/voices/v_2/preview":
                self.json(200, {})
            case "POST", "/load":
                Connection.is_loaded = True
                self.json(200, {"process": "up", "model": "loaded", "device": "cpu"})
            case "POST", "/terminate":
                os._exit(0)
            case _:
                return await self.speak(json.loads(body), headers)
        return True

    async def unload(self) -> None:
        if Connection.at_unload == "die":
            os._exit(6)
        if Connection.at_unload == "hang":
            await asyncio.sleep(600)
        Connection.is_loaded = False
        self.json(200, {"process": "up", "model": "unloaded", "device": "cpu"})

    async def speak(self, asked: dict[str, Any], headers: dict[str, str]) -> bool:
        word = asked["text"].split(" ")[0]
        if word in STREAMS:
            pieces, ending = STREAMS[word]
            await self.chunks(pieces, is_whole=ending == "whole")
            if ending == "bare":
                self.writer.write(b"0\r\n\r\n")
            if ending in {"stall", "drip"}:
                await self.never_end(is_silent=ending == "stall")
            return ending in {"whole", "bare"}
        match word:
            case "json":
                self.json(200, {"error": "no such voice"})
            case "future" | "beyond":
                error = {"code": "from_the_future", "message": "wait", "retryable": True}
                self.json(418 if word == "future" else 999, {"error": error})
            case "page":
                self.head(500, "text/html", "Content-Length: 4")
                self.writer.write(b"oops")
            case "echo":
                seen = json.dumps({"body": asked, "headers": headers}).encode()
                self.head(200, "audio/wav", f"Content-Length: {len(seen) + 256}")
                self.writer.write(seen + b" " * 256)
            case "hang":
                await asyncio.sleep(600)
            case "deaf" | "babble" | "die-in-unload" | "hang-in-unload":
                await self.go_wrong(word)
            case _:
                os._exit(5)
        return True

    async def never_end(self, *, is_silent: bool) -> None:
        """Says no more, or goes on until nobody listens."""
        if is_silent:
            await asyncio.sleep(600)
        while not self.writer.is_closing():
            await asyncio.sleep(0.01)
            self.writer.write(b"%x\r\n%b\r\n" % (len(PIECE), PIECE))

    async def go_wrong(self, word: str) -> None:
        """Does as told for the last time."""
        if word == "deaf":  # lets nobody in any more, and goes on with whoever is there
            Connection.listening.close()
        await self.chunks([PIECE], is_whole=True)
        Connection.is_babbling = word == "babble"
        Connection.at_unload = word.removesuffix("-in-unload")

    async def chunks(self, pieces: Sequence[bytes], *, is_whole: bool) -> None:
        self.head(200, "audio/wav", "Transfer-Encoding: chunked")
        for piece in pieces:
            self.writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await self.writer.drain()
        if is_whole:
            self.writer.write(b"0\r\nX-Rhapsode-Duration-Ms: 42\r\n\r\n")

    def json(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.head(status, "application/json", f"Content-Length: {len(body)}")
        self.writer.write(body)

    def head(self, status: int, content_type: str, framing: str) -> None:
        lines = f"HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\n{framing}\r\n\r\n"
        self.writer.write(lines.encode())


async def main() -> None:
    listen = os.environ["RHAPSODE_WORKER_LISTEN"]

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await Connection(reader, writer).serve()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    Connection.listening = await asyncio.start_unix_server(connected, listen.removeprefix("unix:"))
    handshake = {"ready": True, "contract": 1, "engine": "unruly", "listen": listen}
    os.write(1, json.dumps(handshake).encode() + b"\n")
    await asyncio.Event().wait()


if __name__ == "__main__":
    # What a worker before this one left.
    Path(os.environ["RHAPSODE_WORKER_LISTEN"].removeprefix("unix:")).unlink(missing_ok=True)
    asyncio.run(main())
