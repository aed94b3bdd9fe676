"""A web server on loopback that has the weights: at the pace that a test sets, whole or flipped."""

import re
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

_PIECE_BYTES: Final = 1 << 16

_SECONDS: Final = 60
"""A bound on every wait for bytes to go out."""


class Depot:
    """Files by their paths. What is not there is answered with 404."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.files: dict[str, bytes] = {}
        self.flipped: set[str] = set()
        """Paths of which one bit is sent wrong."""
        self.asked: list[tuple[str, int]] = []
        """Each request: the path, and the byte it wants to go on from."""
        self.sent_bytes = 0
        self._leave: int | None = None
        self._moved = threading.Condition()

    def send_only(self, count: int) -> None:
        """Returns once about `count` more bytes have gone out, and lets no more go."""
        with self._moved:
            self._leave = count
            self._moved.notify_all()
            assert self._moved.wait_for(self._is_held, timeout=_SECONDS), "nobody asks for them"

    def send_freely(self) -> None:
        """Lets all bytes go, as at first."""
        with self._moved:
            self._leave = None
            self._moved.notify_all()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answers one request."""
        path = handler.path
        match = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        offset = int(match[1]) if match else 0
        self.asked.append((path, offset))
        content = self.files.get(path)
        if content is None:
            _head(handler, 404, Content_Length=0)
            return
        length = len(content) - offset
        if offset:
            reach = f"bytes {offset}-{len(content) - 1}/{len(content)}"
            _head(handler, 206, Content_Length=length, Content_Range=reach)
        else:
            _head(handler, 200, Content_Length=length)
        self._send(handler, content, offset, len(content) // 2 if path in self.flipped else None)

    def _send(
        self, handler: BaseHTTPRequestHandler, content: bytes, offset: int, wrong: int | None
    ) -> None:
        for start in range(offset, len(content), _PIECE_BYTES):
            piece = bytearray(content[start : start + _PIECE_BYTES])
            if wrong is not None and 0 <= wrong - start < len(piece):
                piece[wrong - start] ^= 1
            with self._moved:
                self._moved.wait_for(lambda: not self._is_held())
            handler.wfile.write(piece)
            with self._moved:
                self.sent_bytes += len(piece)
                if self._leave is not None:
                    self._leave -= len(piece)
                self._moved.notify_all()

    def _is_held(self) -> bool:
        return self._leave is not None and self._leave <= 0


def _head(handler: BaseHTTPRequestHandler, status: int, **headers: str | int) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), str(value))
    handler.end_headers()


@contextmanager
def serving() -> Generator[Depot]:
    """Serves on a free port of loopback for the length of a block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # So that what counts as sent is not far from what has come.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIECE_BYTES)
            # The client was killed, or has had enough.
            with suppress(BrokenPipeError, ConnectionResetError):
                depot.answer(self)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False  # so that closing waits for the answers under way
    depot = Depot(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield depot
    finally:
        depot.send_freely()
        server.shutdown()
        thread.join()
        server.server_close()
