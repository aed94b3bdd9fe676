"""The answer to `POST /speak`: audio, streamed or whole."""

import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from rhapsode_contract import DURATION_HEADER, RhapsodeError
from rhapsode_http import (
    UNBUFFERED,
    ListenerLeft,
    StreamAborted,
    send_stream,
    send_whole,
    while_connected,
)
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from rhapsode_worker.dispatch import Utterance
from rhapsode_worker.encoded import Meter, encoded
from rhapsode_worker.encoding.formats import media_type
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.studio import Studio

logger = logging.getLogger(__name__)

_DURATION: Final = DURATION_HEADER.lower().encode()


class SpokenAudio(Response):
    """Speaks an utterance for as long as its listener is there.

    The status is sent only once encoded audio exists, so that whatever fails before the first
    audio is an error envelope, streamed or not. A failure after that cuts the connection.
    """

    def __init__(
        self, studio: Studio, encoders: EncoderPool, utterance: Utterance, native: NativeFormat
    ) -> None:
        """Puts nothing in line yet: that happens when the response is sent."""
        super().__init__()
        self._studio = studio
        self._encoders = encoders
        self._utterance = utterance
        self._native = native
        self._content_type = media_type(utterance.format, native).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Speaks.

        Raises:
            RhapsodeError: Before anything was sent.
            StreamAborted: After that.
        """
        try:
            with while_connected(scope):
                await self._speak(send)
        except ListenerLeft:
            logger.info("the listener left")

    async def _speak(self, send: Send) -> None:
        streamed = self._utterance.is_streamed
        meter = Meter(self._native, self._utterance.max_seconds)
        lend = partial(
            self._encoders.encoder, self._utterance.format, self._native, buffered=not streamed
        )
        recording = self._studio.record(self._utterance.request)
        try:
            async with encoded(recording.take, lend, meter, self._studio.room) as pieces:
                if streamed:
                    await self._stream(send, pieces, meter)
                    return
                body = b"".join([piece async for piece in pieces])
        finally:
            recording.abandon()  # of a whole take nothing is left to abandon
        # The encoder is free for the next one while a slow reader takes what is whole.
        await self._send_whole(send, body, meter)

    async def _stream(self, send: Send, pieces: AsyncIterator[bytes], meter: Meter) -> None:
        first = await anext(pieces)

        async def all_pieces() -> AsyncIterator[bytes]:
            yield first
            async for piece in pieces:
                yield piece

        try:
            await send_stream(
                send,
                [(b"content-type", self._content_type), *UNBUFFERED, (b"trailer", _DURATION)],
                all_pieces(),
                lambda: [(_DURATION, str(meter.duration_ms).encode())],
            )
        except RhapsodeError as failure:
            raise StreamAborted(failure.message) from failure

    async def _send_whole(self, send: Send, body: bytes, meter: Meter) -> None:
        headers = [
            (b"content-type", self._content_type),
            (_DURATION, str(meter.duration_ms).encode()),
        ]
        await send_whole(send, headers, body)
