"""Requests over HTTP, as far as weights need them: proxies, certificates, redirects."""

import functools
import ssl
from http.client import HTTPMessage, HTTPResponse
from typing import IO, cast
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)


def open_url(request: Request, timeout_seconds: float) -> HTTPResponse:
    """Sends a request and returns the answer's head, after redirects; its body is still to come.

    Proxies (`HTTPS_PROXY`, `NO_PROXY` …) and certificates (`SSL_CERT_FILE`, else the system's)
    are what the environment says; the standard library reads it.

    Args:
        request: To an `http:` or `https:` URL; a redirect leads to no other kind either.
        timeout_seconds: For the connection, and then for each wait for bytes.

    Raises:
        urllib.error.HTTPError: The answer is no success; it is a response, to be closed.
        OSError: No connection, a timeout, a certificate that does not hold.
        http.client.HTTPException: What answered is not HTTP.
    """
    return cast(HTTPResponse, _opener().open(request, timeout=timeout_seconds))


@functools.cache  # reading the system's certificates takes longer than a request
def _opener() -> OpenerDirector:
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(context=ssl.create_default_context()),
        HTTPDefaultErrorHandler(),
        HTTPErrorProcessor(),
        UnknownHandler(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener


def authorize(request: Request, token: str) -> None:
    """Adds a token that goes to the request's own host and to no other that it redirects to."""
    request.add_unredirected_header("Authorization", f"Bearer {token}")


class _Redirects(HTTPRedirectHandler):
    """Follows redirects, and takes the token along only within one host.

    A hub moves a renamed repository within itself, and leads to a store elsewhere for the bytes.
    """

    def http_error_302(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> IO[bytes] | None:
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except ValueError:  # the standard library leaves the answer open
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        onward = super().redirect_request(req, fp, code, msg, headers, newurl)
        token = req.unredirected_hdrs.get("Authorization")
        if onward is not None and token is not None and _origin(onward) == _origin(req):
            onward.add_unredirected_header("Authorization", token)
        return onward


def _origin(request: Request) -> tuple[str, str]:
    parts = urlsplit(request.full_url)
    return parts.scheme, parts.netloc
