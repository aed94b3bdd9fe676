"""One question to GitHub, bounded in size; its caller bounds it in time."""

from http import HTTPStatus
from typing import Final

import anyio
import httpx

from rhapsode.update.release import NoAnswer, Release, read_release

REPOSITORY: Final = "MaroonedSoftware/rhapsode"
"""Whose releases are ours."""

LATEST_RELEASE_URL: Final = f"https://api.github.com/repos/{REPOSITORY}/releases/latest"

_ANSWER_BYTES: Final = 1024 * 1024
"""Far more than the description of a release and of its files."""

_REDIRECTS: Final = 3
"""A repository that was renamed is one redirection away, on the same host."""


async def latest_release(url: str, version: str) -> Release:
    """Asks which release is the latest. The caller sets a deadline.

    Through the proxies and with the certificate authorities that the environment names, as any
    other program on the box.

    Args:
        url: Whom to ask.
        version: Ours; with the name of the program, all that is said of this box.

    Raises:
        NoAnswer: There was no answer, or none to go by.
    """
    # On a thread, since reading the certificates of authorities takes as long as fifty requests.
    client = await anyio.to_thread.run_sync(_client, version, abandon_on_cancel=True)
    async with client:
        try:
            return read_release(await _body(client, httpx.URL(url)))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from None


def _client(version: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        headers={
            "User-Agent": f"rhapsode/{version}",
            "Accept": "application/vnd.github+json",
            # A packed answer could be a small one that becomes a large one.
            "Accept-Encoding": "identity",
        },
        timeout=None,
    )


async def _body(client: httpx.AsyncClient, url: httpx.URL) -> bytes:
    """Returns the answer's body, from where a redirection on the same host leads to.

    Raises:
        NoAnswer: Of another status, longer than any such answer, or from elsewhere.
        httpx.HTTPError: The network or the other side failed.
    """
    for _ in range(1 + _REDIRECTS):
        async with client.stream("GET", url) as answer:
            if answer.next_request is None:
                return await _read(answer)
            target = answer.next_request.url
        if _origin(target) != _origin(url):
            raise NoAnswer(f"a redirection to {target.host}")
        url = target
    raise NoAnswer("one redirection after another")


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


async def _read(answer: httpx.Response) -> bytes:
    if answer.status_code != HTTPStatus.OK:
        raise NoAnswer(f"status {answer.status_code}")
    body = bytearray()
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > _ANSWER_BYTES:
            raise NoAnswer(f"an answer of more than {_ANSWER_BYTES:,} bytes")
    return bytes(body)
