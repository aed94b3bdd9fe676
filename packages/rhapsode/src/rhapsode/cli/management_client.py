"""Engines that exist and jobs that install them, as the command line asks for them."""

from collections.abc import Iterator
from typing import Final, TypeVar

import httpx
from httpx_sse import EventSource, SSEError
from pydantic import BaseModel, TypeAdapter, ValidationError
from rhapsode_contract import CatalogEntry, InstallJob, JobEvent

from rhapsode.cli.api_client import ApiClient, CallFailed

_CATALOG: Final = TypeAdapter(list[CatalogEntry])
_SILENCE_SECONDS: Final = 60.0
"""The server sends a comment every 15 s, so a feed that is silent for longer is cut."""
_TRIES: Final = 5
"""In a row, to take up a feed that broke off."""

S = TypeVar("S", bound=BaseModel)


class ManagementClient(ApiClient):
    """What manages a server."""

    def __init__(
        self, url: str, token: str | None = None, transport: httpx.BaseTransport | None = None
    ) -> None:
        """Args:
        url: The server's.
        token: Its management token; only this machine needs none.
        transport: What carries the requests, or None for the network.

        Raises:
            CallFailed: It is no http or https URL.
        """
        headers = {"Authorization": f"Bearer {token}"} if token else None
        super().__init__(url, transport, headers)

    def catalog(self) -> list[CatalogEntry]:
        """Returns every engine that exists.

        Raises:
            CallFailed: There is no answer, or none that is a catalog.
        """
        answer = self._answer("GET", "/catalog")
        try:
            return _CATALOG.validate_json(answer.content)
        except ValidationError:
            raise self.foreign("GET /catalog gives no catalog") from None

    def install(self, engine: str, *, pull: str | None, accept: str | None) -> InstallJob:
        """Starts the install of an engine.

        Args:
            engine: Its id.
            pull: The variant whose weights to fetch too, or None.
            accept: The weights licence that a person accepted, or None.

        Raises:
            CallFailed: The server refused, or there is none.
        """
        asked = {"pull": pull, "accept": accept}
        params = {name: value for name, value in asked.items() if value is not None}
        return self._job("POST", f"/engines/{engine}/install", params)

    def events(self, job: str) -> Iterator[JobEvent]:
        """Yields what happens in a job, from its start to its last event.

        A feed that breaks off is taken up where it was.

        Raises:
            CallFailed: It cannot be taken up.
        """
        last, failures = "", 0
        while True:
            try:
                for event in self._feed(job, last):
                    last, failures = str(event.id), 0
                    yield event
                    if event.progress is not None and event.progress.status != "running":
                        return
            except CallFailed:
                failures += 1
                if failures == _TRIES:
                    raise

    def _feed(self, job: str, last: str) -> Iterator[JobEvent]:
        """Yields events, those after the id `last`, until the feed breaks off."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        timeout = httpx.Timeout(15.0, read=_SILENCE_SECONDS)
        path = f"/installs/{job}/events"
        with (
            self.failures(),
            self.http.stream("GET", path, headers=headers, timeout=timeout) as answer,
        ):
            if not answer.is_success:
                answer.read()
                raise self.refusal(answer)
            try:
                for frame in EventSource(answer).iter_sse():
                    # A gap says nothing by itself; what comes after it still tells the outcome.
                    if frame.data:
                        yield JobEvent.model_validate_json(frame.data)
            except (SSEError, ValidationError):
                raise self.foreign(f"GET {path} gives no events") from None
        raise CallFailed(f"{self.url} ended the feed of job {job} before its end")

    def _job(self, method: str, path: str, params: dict[str, str] | None = None) -> InstallJob:
        answer = self._answer(method, path, params)
        try:
            return InstallJob.model_validate_json(answer.content)
        except ValidationError:
            raise self.foreign(f"{method} {path} gives no job") from None

    def _answer(
        self, method: str, path: str, params: dict[str, str] | None = None
    ) -> httpx.Response:
        with self.failures():
            answer = self.http.request(method, path, params=params)
        if not answer.is_success:
            raise self.refusal(answer)
        return answer
