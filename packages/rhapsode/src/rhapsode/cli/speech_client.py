"""Engines and speech, as the command line asks for them."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import httpx
from pydantic import TypeAdapter, ValidationError
from rhapsode_contract import DURATION_HEADER, EngineSummary, PublicSpeakRequest

from rhapsode.cli.api_client import ApiClient, CallFailed

_ENGINES: Final = TypeAdapter(list[EngineSummary])


@dataclass(frozen=True)
class Speech:
    """Audio as it arrives."""

    content_type: str
    """Authoritative, also where another format was asked for."""

    duration_seconds: float | None
    """Of the whole, where the server knew it beforehand."""

    pieces: Iterator[bytes]
    """Raises `CallFailed` where the audio breaks off."""


class SpeechClient(ApiClient):
    """What speaks."""

    def engines(self) -> list[EngineSummary]:
        """Returns the engines of the server.

        Raises:
            CallFailed: There is no answer, or none that lists engines.
        """
        with self.failures():
            answer = self.http.get("/engines")
        if not answer.is_success:
            raise self.refusal(answer)
        try:
            return _ENGINES.validate_json(answer.content)
        except ValidationError:
            raise self.foreign("GET /engines gives no list of engines") from None

    @contextmanager
    def speak(self, request: PublicSpeakRequest) -> Generator[Speech]:
        """Asks for speech, for the length of a block; leaving it stops the engine.

        Raises:
            CallFailed: The server refused, or there is none.
        """
        with (
            self.failures(),
            self.http.stream(
                "POST",
                "/speak",
                content=request.to_json(),
                headers={"Content-Type": "application/json"},
            ) as answer,
        ):
            if not answer.is_success:
                answer.read()
                raise self.refusal(answer)
            content_type = answer.headers.get("content-type", "")
            if not content_type.startswith("audio/"):
                raise self.foreign(f"POST /speak gives {content_type or 'no type'}, no audio")
            yield Speech(
                content_type=content_type,
                duration_seconds=_duration(answer.headers),
                pieces=self._pieces(answer),
            )

    def _pieces(self, answer: httpx.Response) -> Iterator[bytes]:
        try:
            yield from answer.iter_bytes()
        except httpx.TimeoutException:
            raise CallFailed(f"{self.url} stopped answering") from None
        except httpx.HTTPError:
            raise CallFailed(
                "the audio broke off before its end; the server's log says why"
            ) from None


def _duration(headers: Mapping[str, str]) -> float | None:
    try:
        return float(headers[DURATION_HEADER]) / 1000
    except (KeyError, ValueError):
        return None
