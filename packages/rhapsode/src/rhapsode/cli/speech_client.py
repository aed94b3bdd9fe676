"""The public API, as the command line calls it."""

import ipaddress
import ssl
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx
from pydantic import TypeAdapter, ValidationError
from rhapsode_contract import (
    DURATION_HEADER,
    EngineSummary,
    ErrorBody,
    PublicSpeakRequest,
    read_error,
    read_shape,
)

DEFAULT_URL: Final = "http://127.0.0.1:8080"

# A model may take its ten minutes to load before the first byte; the server has deadlines of its
# own and answers for every one of them, so this only ends a wait for a server that is gone.
_TIMEOUT: Final = httpx.Timeout(15.0, read=900.0)

_ENGINES: Final = TypeAdapter(list[EngineSummary])


class CallFailed(Exception):
    """A call that gave no audio; the message is one line for the person who made it."""


@dataclass(frozen=True)
class Speech:
    """Audio as it arrives."""

    content_type: str
    """Authoritative, also where another format was asked for."""

    duration_seconds: float | None
    """Of the whole, where the server knew it beforehand."""

    pieces: Iterator[bytes]
    """Raises `CallFailed` where the audio breaks off."""


class SpeechClient:
    """One server's public API."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        """Args:
        url: The server's, such as `http://127.0.0.1:8080`.
        transport: What carries the requests, or None for the network.

        Raises:
            CallFailed: It is no http or https URL.
        """
        host = _host(url)
        if host is None:
            raise CallFailed(f"{url!r} is not a server's URL; one is {DEFAULT_URL}")
        self._url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=self._url,
            timeout=_TIMEOUT,
            transport=transport,
            # A proxy of the environment cannot reach this machine's own loopback.
            trust_env=not _is_loopback(host),
        )

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def engines(self) -> list[EngineSummary]:
        """Returns the engines of the server.

        Raises:
            CallFailed: There is no answer, or none that lists engines.
        """
        with self._failures():
            answer = self._http.get("/engines")
        if not answer.is_success:
            raise self._refusal(answer)
        try:
            return _ENGINES.validate_json(answer.content)
        except ValidationError:
            raise self._foreign("GET /engines gives no list of engines") from None

    @contextmanager
    def speak(self, request: PublicSpeakRequest) -> Generator[Speech]:
        """Asks for speech, for the length of a block; leaving it stops the engine.

        Raises:
            CallFailed: The server refused, or there is none.
        """
        with (
            self._failures(),
            self._http.stream(
                "POST",
                "/speak",
                content=request.to_json(),
                headers={"Content-Type": "application/json"},
            ) as answer,
        ):
            if not answer.is_success:
                answer.read()
                raise self._refusal(answer)
            content_type = answer.headers.get("content-type", "")
            if not content_type.startswith("audio/"):
                raise self._foreign(f"POST /speak gives {content_type or 'no type'}, no audio")
            yield Speech(
                content_type=content_type,
                duration_seconds=_duration(answer.headers),
                pieces=self._pieces(answer),
            )

    def _pieces(self, answer: httpx.Response) -> Iterator[bytes]:
        try:
            yield from answer.iter_bytes()
        except httpx.TimeoutException:
            raise CallFailed(f"{self._url} stopped answering") from None
        except httpx.HTTPError:
            raise CallFailed(
                "the audio broke off before its end; the server's log says why"
            ) from None

    @contextmanager
    def _failures(self) -> Generator[None]:
        """Makes ours of what fails before the body of an answer."""
        try:
            yield
        except httpx.ConnectError as error:
            if reason := _tls_failure(error):
                raise CallFailed(f"{self._url} does not answer in TLS: {reason}") from None
            raise CallFailed(
                f"nothing answers at {self._url}; start a server with: rhapsode serve"
            ) from None
        except (httpx.RemoteProtocolError, httpx.NetworkError):
            raise self._foreign("it closes the connection without an HTTP answer") from None
        except httpx.TimeoutException:
            raise CallFailed(f"{self._url} stopped answering") from None
        except httpx.HTTPError as error:
            raise CallFailed(f"{self._url}: {error}") from None

    def _refusal(self, answer: httpx.Response) -> CallFailed:
        try:
            read_shape(ErrorBody, answer.content)
        except ValueError:
            asked = f"{answer.request.method} {answer.request.url.path}"
            return self._foreign(f"{asked} gives status {answer.status_code}")
        error = read_error(answer.status_code, answer.content)
        later = " (the same request may work later)" if error.retryable else ""
        return CallFailed(f"{error.message} [{error.code}]{later}")

    def _foreign(self, evidence: str) -> CallFailed:
        return CallFailed(f"{self._url} does not answer as a Rhapsode server does: {evidence}")


def _host(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        # Reading the port is what checks it.
        is_whole = parts.scheme in {"http", "https"} and parts.port != 0
    except ValueError:
        return None
    return parts.hostname if is_whole else None


def _tls_failure(error: httpx.ConnectError) -> str | None:
    """Returns what was wrong with TLS where that is why there is no connection."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return None
    # OpenSSL has no reason where the peer has just closed the connection.
    return (cause.reason or "it closes the connection").lower().replace("_", " ")


def _duration(headers: Mapping[str, str]) -> float | None:
    try:
        return float(headers[DURATION_HEADER]) / 1000
    except (KeyError, ValueError):
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
