"""Requests to the worker, every answer kept for the checks that look at all of them."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from rhapsode_http import (
    Address,
    Client,
    UpstreamError,
    UpstreamResponse,
    UpstreamTooLong,
    UpstreamUnreachable,
)

from rhapsode_conform.answer import Answer
from rhapsode_conform.chunks import MOST_BYTES, sizes_of_chunks

JSON_TYPE = "application/json"
_SUCCESS = 200

Fields = Mapping[str, object]


def _nothing() -> None:
    """Hears a piece and does nothing about it."""


class Wire:
    """Speaks HTTP to one worker and remembers what it answered."""

    def __init__(
        self, address: Address, *, token: str | None = None, answers: list[Answer] | None = None
    ) -> None:
        """Connects to nothing yet.

        Args:
            address: Where the worker listens.
            token: What a worker beyond loopback wants as its bearer token.
            answers: Where answers are kept, for a worker of the same make as another.
        """
        self.address = address
        self.answers: list[Answer] = [] if answers is None else answers
        """Every answer that has come, in order; of those that were given up, none."""
        self.refusal = ""
        """Why no connection could be made for the last request; empty where one could."""
        self._client = Client(address)
        self._own = [(b"authorization", f"Bearer {token}".encode())] if token else []

    async def get(self, target: str) -> Answer:
        """Sends a GET."""
        return await self.send("GET", target)

    async def post(self, target: str, fields: Fields | None = None) -> Answer:
        """Sends a POST with a JSON object, or with no body at all where `fields` is None."""
        if fields is None:
            return await self.send("POST", target)
        return await self.send("POST", target, json.dumps(fields).encode(), JSON_TYPE)

    async def send(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        content_type: str = "",
        *,
        hear: Callable[[], None] = _nothing,
        is_kept: bool = True,
    ) -> Answer:
        """Sends a request and returns the whole answer, however it ends.

        Args:
            method: Of the request.
            target: Path and query.
            body: All of it.
            content_type: Of the body; empty leaves it out.
            hear: Called at every piece of the answer.
            is_kept: Whether the body of a success is wanted.

        Raises:
            UpstreamError: Nothing of an answer came, or it had no end.
        """
        async with self.open(method, target, body, content_type) as response:
            keeps = is_kept or response.status != _SUCCESS
            answer = await self.rest(response, method, target, hear=hear, is_kept=keeps)
        # Who looks at every answer looks at no audio, and there is much of it.
        self.answers.append(replace(answer, body=b"") if answer.is_audio else answer)
        return answer

    async def rest(
        self,
        response: UpstreamResponse,
        method: str,
        target: str,
        *,
        begun: bytes = b"",
        hear: Callable[[], None] = _nothing,
        is_kept: bool = True,
    ) -> Answer:
        """Returns the answer that `begun` and what is still to be read of it make, however it ends.

        Args:
            response: Which is read.
            method: Of its request.
            target: Of its request.
            begun: What has been read of it.
            hear: Called at every piece.
            is_kept: Whether the body is wanted.

        Raises:
            UpstreamTooLong: It goes on far beyond what anybody asked for.
        """
        read = bytearray(begun)
        size = len(read)
        broken_off = ""
        try:
            while size <= MOST_BYTES and (piece := await response.read()):
                size += len(piece)
                read += piece if is_kept else b""
                hear()
        except UpstreamError as error:
            broken_off = str(error)
        if size > MOST_BYTES:
            raise UpstreamTooLong(f"the answer to {method} {target} goes on beyond 64 MiB")
        headers, trailers = _text(response.headers), _text(response.trailers)
        return Answer(method, target, response.status, headers, bytes(read), trailers, broken_off)

    @asynccontextmanager
    async def open(
        self, method: str, target: str, body: bytes = b"", content_type: str = ""
    ) -> AsyncGenerator[UpstreamResponse]:
        """Sends a request and yields its answer to be read; what is left unread is given up.

        Raises:
            UpstreamError: Nothing of an answer came.
        """
        headers = list(self._own)
        if content_type:
            headers.append((b"content-type", content_type.encode()))
        self.refusal = ""
        try:
            response = await self._client.request(method, target, headers, body)
        except UpstreamUnreachable as error:
            self.refusal = str(error)
            raise
        async with response:
            yield response

    async def sizes_of_chunks(self, target: str, fields: Fields) -> list[int]:
        """Posts a JSON object and returns the sizes of the chunks that it is answered in.

        Raises:
            OSError: No connection can be made.
            UpstreamError: What came is no whole answer in chunks.
        """
        body = json.dumps(fields).encode()
        own = [(b"host", b"localhost"), *self._own, (b"content-type", JSON_TYPE.encode())]
        headers = [*own, (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
        lines = b"".join(b"%s: %s\r\n" % pair for pair in headers)
        head = b"POST %s HTTP/1.1\r\n" % target.encode() + lines + b"\r\n"
        return await sizes_of_chunks(self.address, head + body)

    async def aclose(self) -> None:
        """Closes every connection."""
        await self._client.aclose()


def _text(pairs: list[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs]
