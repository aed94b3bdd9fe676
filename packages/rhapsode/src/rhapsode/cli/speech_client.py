"""The public API, as the command line calls it."""

import ipaddress
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx
from pydantic import TypeAdapter, ValidationError
from rhapsode_contract import DURATION_HEADER, EngineSummary, PublicSpeakRequest, read_error

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
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise CallFailed(f"{url!r} is not a server's URL; one is {DEFAULT_URL}")
        self._url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=self._url,
            timeout=_TIMEOUT,
            transport=transport,
            # A proxy of the environment cannot reach this machine's own loopback.
            trust_env=not _is_loopback(parts.hostname),
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
            raise CallFailed(_refusal(answer))
        try:
            return _ENGINES.validate_json(answer.content)
        except ValidationError:
            raise CallFailed(f"what answers at {self._url} is not a Rhapsode server") from None

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
                raise CallFailed(_refusal(answer))
            yield Speech(
                content_type=answer.headers.get("content-type", ""),
                duration_seconds=_duration(answer.headers),
                pieces=answer.iter_bytes(),
            )

    @contextmanager
    def _failures(self) -> Generator[None]:
        try:
            yield
        except httpx.ConnectError:
            raise CallFailed(
                f"nothing answers at {self._url}; start a server with: rhapsode serve"
            ) from None
        except httpx.RemoteProtocolError:
            raise CallFailed(
                "the audio broke off before its end; the server's log says why"
            ) from None
        except httpx.TimeoutException:
            raise CallFailed(f"{self._url} stopped answering") from None
        except httpx.HTTPError as error:
            raise CallFailed(f"{self._url}: {error}") from None


def _refusal(answer: httpx.Response) -> str:
    error = read_error(answer.status_code, answer.content)
    later = " (the same request may work later)" if error.retryable else ""
    return f"{error.message} [{error.code}]{later}"


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
