"""A file over HTTP, resumed where it broke off."""

import re
import time
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import Request

from rhapsode_worker.weights.opener import authorize, open_url
from rhapsode_worker.weights.part import Origin
from rhapsode_worker.weights.source import Errand, SourceFailed

_PIECE_BYTES: Final = 1 << 18

_MOST_CONNECTIONS: Final = 32
"""For one file of one source, so that a server that cuts every answer short comes to an end."""

_PASSING: Final = frozenset({408, 425, 429})
"""Refusals that a moment may undo, beside every 5xx."""


class _BrokeOff(Exception):
    """The answer ended before the file did."""


class Download:
    """Brings one URL into the part of an errand."""

    def __init__(self, url: str, errand: Errand, *, token: str | None = None) -> None:
        self._url = url
        self._errand = errand
        self._part = errand.part
        self._token = token
        self._was_resumed = False

    def run(self) -> bool:
        """Fills the part. A connection that brought something is followed by another at once.

        Returns:
            Whether it was put together from more than one answer.

        Raises:
            SourceFailed: The server refuses, has another file, is silent or too slow.
            OSError: The part cannot be written.
            ModelUnavailable: The fetch was stopped.
        """
        for _ in range(_MOST_CONNECTIONS):
            before = self._part.arrived()
            if before == self._part.size_bytes:
                return True
            try:
                self._continue()
            except _BrokeOff as broken:
                if self._part.arrived() <= before:
                    raise SourceFailed(str(broken), is_transient=True) from None
            else:
                return self._was_resumed
        raise SourceFailed(f"broke off {_MOST_CONNECTIONS} times", is_transient=True)

    def _continue(self) -> None:
        self._errand.stop.check()
        offset = self._part.arrived()
        if offset > self._part.size_bytes:
            self._part.discard()
            offset = 0
        with self._ask(offset) as response:
            self._check_length(response, offset)
            if response.status == HTTPStatus.PARTIAL_CONTENT:
                self._was_resumed = True
            else:
                # Also the answer of a server that knows no ranges, or whose file has changed.
                offset = 0
                self._part.begin(Origin(self._url, _validator(response)))
            self._copy(response, offset)

    def _ask(self, offset: int) -> HTTPResponse:
        request = Request(self._url, headers={"User-Agent": "rhapsode-worker"})
        if self._token is not None:
            authorize(request, self._token)
        if offset:
            request.add_header("Range", f"bytes={offset}-")
            origin = self._part.origin()
            # From another source it is the same file or none: the hash will tell.
            if origin is not None and origin.source == self._url and origin.validator:
                request.add_header("If-Range", origin.validator)
        try:
            return open_url(request, self._errand.patience.silence_seconds)
        except HTTPError as refused:
            with refused:
                if refused.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    self._part.discard()
                raise self._refusal(refused) from None
        except (OSError, HTTPException) as error:
            raise _BrokeOff(_said(error)) from None
        except ValueError as error:
            raise SourceFailed(f"leads to no usable address: {error}") from None

    def _refusal(self, refused: HTTPError) -> SourceFailed:
        code = refused.code
        reason = f"answers {code} {refused.reason}"
        if code in {401, 403}:
            reason += "; a token was given" if self._token else "; no token was given"
        is_retried = code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        return SourceFailed(reason, is_transient=code >= 500 or code in _PASSING or is_retried)

    def _check_length(self, response: HTTPResponse, offset: int) -> None:
        if response.status == HTTPStatus.PARTIAL_CONTENT:
            said = response.headers.get("Content-Range", "")
            match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", said.strip())
            if match is None or int(match[1]) != offset:
                self._part.discard()
                raise SourceFailed(f"answers with another range: {said!r}", is_transient=True)
            total = match[2]
        elif response.status == HTTPStatus.OK:
            total = response.headers.get("Content-Length", "*")
        else:
            raise SourceFailed(f"answers {response.status} {response.reason}")
        if total.isdecimal() and int(total) != self._part.size_bytes:
            reason = f"has {total} bytes, not {self._part.size_bytes}"
            raise SourceFailed(reason, is_wrong=True)

    def _copy(self, response: HTTPResponse, arrived: int) -> None:
        patience = self._errand.patience
        pace = Pace(patience.crawl_bytes, patience.crawl_window_seconds)
        with self._part.open() as out:
            while piece := _read(response):
                arrived += len(piece)
                if arrived > self._part.size_bytes:
                    reason = f"sends more than {self._part.size_bytes} bytes"
                    raise SourceFailed(reason, is_wrong=True)
                out.write(piece)
                self._errand.meter.show(arrived)
                self._errand.stop.check()
                if arrived < self._part.size_bytes:
                    pace.note(len(piece))
        if arrived < self._part.size_bytes:
            raise _BrokeOff(f"ends after {arrived} of {self._part.size_bytes} bytes")


class Pace:
    """Notices a transfer that crawls: one that never falls silent and never comes to an end."""

    def __init__(
        self,
        least_bytes: int,
        window_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._least_bytes = least_bytes
        self._window_seconds = window_seconds
        self._clock = clock
        self._since = clock()
        self._bytes = 0

    def note(self, count: int) -> None:
        """Notes that `count` bytes came.

        Raises:
            SourceFailed: The window that ends now brought too few.
        """
        self._bytes += count
        seconds = self._clock() - self._since
        if seconds < self._window_seconds:
            return
        if self._bytes < self._least_bytes:
            raise SourceFailed(f"crawls: {self._bytes} bytes in {seconds:.0f} s", is_transient=True)
        self._since += seconds
        self._bytes = 0


def _read(response: HTTPResponse) -> bytes:
    try:
        # Not read(): that one waits until the piece is full.
        return response.read1(_PIECE_BYTES)
    except (OSError, HTTPException) as error:
        raise _BrokeOff(_said(error)) from None


def _validator(response: HTTPResponse) -> str | None:
    etag = response.headers.get("ETag", "")
    if etag.startswith('"'):  # a weak one does not promise the same bytes
        return etag
    return response.headers.get("Last-Modified")


def _said(error: Exception) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    return str(cause) or type(cause).__name__
