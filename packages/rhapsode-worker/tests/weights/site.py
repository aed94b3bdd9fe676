"""A web server on loopback that serves files, and misbehaves as it is told to."""

import hashlib
import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Seen:
    """A request that came."""

    path: str
    headers: dict[str, str]

    @property
    def offset(self) -> int:
        """Where it wants to go on; 0 from the beginning."""
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(match[1]) if match else 0


class Answer:
    """One answer to be given, with what honest servers do at hand."""

    def __init__(self, site: "Site", handler: BaseHTTPRequestHandler, seen: Seen) -> None:
        self.site = site
        self.seen = seen
        self._handler = handler

    @property
    def content(self) -> bytes:
        """What is asked for."""
        return self.site.files[self.seen.path]

    @property
    def etag(self) -> str:
        """What stands for the content."""
        return f'"{hashlib.md5(self.content).hexdigest()}"'

    def head(self, status: int, **headers: str | int | None) -> None:
        """Sends the status line and headers, `_` in names for `-`."""
        self._handler.send_response(status)
        for name, value in headers.items():
            if value is not None:
                self._handler.send_header(name.replace("_", "-"), str(value))
        self._handler.end_headers()

    def body(self, content: bytes) -> None:
        """Sends bytes, counted as they go."""
        piece = self.site.piece_bytes
        for start in range(0, len(content), piece):
            self.site.wait_for_leave()
            self._handler.wfile.write(content[start : start + piece])
            self.site.note_sent(min(piece, len(content) - start))

    def begin_honestly(self) -> bytes:
        """Sends the head that the request deserves; returns the body that belongs to it."""
        content, offset = self.content, self.seen.offset
        condition = self.seen.headers.get("If-Range", self.etag)
        if not offset or condition != self.etag:
            self.head(200, Content_Length=len(content), ETag=self.etag)
            return content
        reach = f"bytes {offset}-{len(content) - 1}/{len(content)}"
        length = len(content) - offset
        self.head(206, Content_Length=length, Content_Range=reach, ETag=self.etag)
        return content[offset:]


Behaviour: TypeAlias = Callable[[Answer], None]


class Site:
    """What is served, and how the next answers are to go wrong."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.files: dict[str, bytes] = {}
        self.seen: list[Seen] = []
        self.piece_bytes = 1 << 16
        self.closing = threading.Event()
        self._plans: defaultdict[str, deque[Behaviour]] = defaultdict(deque)
        self._always: dict[str, Behaviour] = {}
        self._leave: int | None = None
        self._moved = threading.Condition()

    def url(self, path: str) -> str:
        """Returns the URL of a path."""
        return self.address + path

    def plan(self, path: str, *behaviours: Behaviour) -> None:
        """Answers the next requests for a path in these ways, and then honestly."""
        self._plans[path].extend(behaviours)

    def always(self, path: str, behaviour: Behaviour) -> None:
        """Answers every request for a path in this way."""
        self._always[path] = behaviour

    def offsets(self) -> list[int]:
        """Returns where each request began, in order."""
        return [seen.offset for seen in self.seen]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answers one request."""
        seen = Seen(handler.path, dict(handler.headers.items()))
        self.seen.append(seen)
        answer = Answer(self, handler, seen)
        if seen.path in self._always:
            self._always[seen.path](answer)
        elif self._plans[seen.path]:
            self._plans[seen.path].popleft()(answer)
        elif seen.path in self.files:
            answer.body(answer.begin_honestly())
        else:
            answer.head(404, Content_Length=0)

    def send_only(self, count: int) -> None:
        """Returns once about `count` more bytes have gone out, and lets no more go."""
        with self._moved:
            self._leave = count
            self._moved.notify_all()
            assert self._moved.wait_for(lambda: self._leave is None or self._leave <= 0, timeout=60)

    def send_freely(self) -> None:
        """Lets all bytes go, as at first."""
        with self._moved:
            self._leave = None
            self._moved.notify_all()

    def wait_for_leave(self) -> None:
        """Waits until bytes may go out."""
        with self._moved:
            self._moved.wait_for(lambda: self._leave is None or self._leave > 0)

    def note_sent(self, count: int) -> None:
        """Notes bytes that went out."""
        with self._moved:
            if self._leave is not None:
                self._leave -= count
            self._moved.notify_all()


# Ways to go wrong.


def refuse(status: int) -> Behaviour:
    """Answers with a status and nothing else."""
    return lambda answer: answer.head(status, Content_Length=0)


def drop_after(count: int) -> Behaviour:
    """Answers honestly, and hangs up after so many bytes of the body."""

    def behave(answer: Answer) -> None:
        answer.body(answer.begin_honestly()[:count])

    return behave


def redirect_to(url: str, status: int = 302) -> Behaviour:
    """Sends the client elsewhere."""
    return lambda answer: answer.head(status, Location=url, Content_Length=0)


def ignore_ranges(answer: Answer) -> None:
    """Sends the whole file, whatever part was asked for."""
    answer.head(200, Content_Length=len(answer.content), ETag=answer.etag)
    answer.body(answer.content)


def without_validators(answer: Answer) -> None:
    """Answers as a server that says neither how long the file is nor which one it is."""
    offset = answer.seen.offset
    if offset:
        reach = f"bytes {offset}-{len(answer.content) - 1}/*"
        answer.head(206, Content_Range=reach)
    else:
        answer.head(200)
    answer.body(answer.content[offset:])


def say_nothing(answer: Answer) -> None:
    """Sends the head and no byte of the body."""
    answer.begin_honestly()
    answer.site.closing.wait(30)


def drip(answer: Answer) -> None:
    """Sends a byte now and then."""
    body = answer.begin_honestly()
    for index in range(len(body)):
        answer.body(body[index : index + 1])
        if answer.site.closing.wait(0.01):
            return


@contextmanager
def serving() -> Generator[Site]:
    """Serves on a free port of loopback for the length of a block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # The client was killed, or has had enough.
            with suppress(BrokenPipeError, ConnectionResetError):
                site.answer(self)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False  # so that closing waits for the answers under way
    site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        site.send_freely()
        server.shutdown()
        thread.join()
        server.server_close()
