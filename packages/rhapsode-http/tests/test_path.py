"""How a path is read."""

import anyio
import pytest
from rhapsode_http import Client
from rhapsode_http.path import decoded_path
from rhapsode_http.testing import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"/voices/a", "/voices/a"),
        (b"/voices/%61", "/voices/a"),
        (b"/voices/a%2fb", "/voices/a%2fb"),
        (b"/voices/..%2F..%2Fx", "/voices/..%2F..%2Fx"),
        (b"/voices/a%252fb", "/voices/a%2fb"),
        (b"/voices/%2e%2e", "/voices/.."),
        (b"/voices/%C3%A9", "/voices/\u00e9"),
    ],
)
def test_a_path_is_decoded_but_for_its_slashes(raw: bytes, path: str) -> None:
    assert decoded_path(raw) == path


@pytest.mark.anyio
async def test_an_encoded_slash_does_not_end_a_segment_of_a_route() -> None:
    async def told(request: Request) -> PlainTextResponse:
        return PlainTextResponse(request.path_params["voice"])

    app = Starlette(routes=[Route("/voices/{voice}", told)])
    with anyio.fail_after(5):
        async with serving(app) as server, Client(server.addresses[0]) as client:
            response = await client.request("GET", "/voices/a%2fb")
            assert (response.status, await response.read()) == (200, b"a%2fb")
