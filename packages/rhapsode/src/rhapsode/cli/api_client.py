"""One server, as the command line calls it: its failures in words for a person."""

import ipaddress
import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

import httpx
from rhapsode_contract import ErrorBody, read_error, read_shape

DEFAULT_URL: Final = "http://127.0.0.1:8080"

# A model may take its ten minutes to load before the first byte; the server has deadlines of its
# own and answers for every one of them, so this only ends a wait for a server that is gone.
_TIMEOUT: Final = httpx.Timeout(15.0, read=900.0)


class CallFailed(Exception):
    """A call that came to nothing; the message is one line for the person who made it."""


class ApiClient:
    """One server's public API."""

    def __init__(
        self,
        url: str,
        transport: httpx.BaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Args:
        url: The server's, such as `http://127.0.0.1:8080`.
        transport: What carries the requests, or None for the network.
        headers: Sent with every request.

        Raises:
            CallFailed: It is no http or https URL.
        """
        host = _host(url)
        if host is None:
            raise CallFailed(f"{url!r} is not a server's URL; one is {DEFAULT_URL}")
        self.url = url.rstrip("/")
        self.http = httpx.Client(
            base_url=self.url,
            timeout=_TIMEOUT,
            transport=transport,
            headers=headers,
            # A proxy of the environment cannot reach this machine's own loopback.
            trust_env=not _is_loopback(host),
        )

    def close(self) -> None:
        """Closes the connections."""
        self.http.close()

    @contextmanager
    def failures(self) -> Generator[None]:
        """Makes ours of what fails before the body of an answer."""
        try:
            yield
        except httpx.ConnectError as error:
            if reason := _tls_failure(error):
                raise CallFailed(f"{self.url} does not answer in TLS: {reason}") from None
            raise CallFailed(
                f"nothing answers at {self.url}; start a server with: rhapsode serve"
            ) from None
        except (httpx.RemoteProtocolError, httpx.NetworkError):
            raise self.foreign("it closes the connection without an HTTP answer") from None
        except httpx.TimeoutException:
            raise CallFailed(f"{self.url} stopped answering") from None
        except httpx.HTTPError as error:
            raise CallFailed(f"{self.url}: {error}") from None

    def refusal(self, answer: httpx.Response) -> CallFailed:
        """Returns what an answer that is no success is to the person who asked."""
        try:
            read_shape(ErrorBody, answer.content)
        except ValueError:
            asked = f"{answer.request.method} {answer.request.url.path}"
            return self.foreign(f"{asked} gives status {answer.status_code}")
        error = read_error(answer.status_code, answer.content)
        later = " (the same request may work later)" if error.retryable else ""
        return CallFailed(f"{error.message} [{error.code}]{later}")

    def foreign(self, evidence: str) -> CallFailed:
        """Returns what is said of a server that is none of ours."""
        return CallFailed(f"{self.url} does not answer as a Rhapsode server does: {evidence}")


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


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
