"""The route that gives the document."""

import anyio
import httpx
import pytest
from rhapsode.api.guard.admission import Rules
from rhapsode.api.guard.guard import Guard
from rhapsode.api.openapi.page import routes
from rhapsode.api.openapi.public import SHAPES, public_document
from rhapsode.api.openapi.schemas import schemas_of_all
from rhapsode.version import VERSION
from starlette.applications import Starlette

pytestmark = pytest.mark.anyio


def client(address: str = "203.0.113.7") -> httpx.AsyncClient:
    """Gives a client at an address that nobody knows."""
    rules = Rules(token=b"secret", origins=frozenset(), hosts=frozenset())
    app = Guard(Starlette(routes=routes), rules)
    transport = httpx.ASGITransport(app, client=(address, 7))
    return httpx.AsyncClient(transport=transport, base_url="http://box.example")


@pytest.mark.contract("9.openapi.served", "9.openapi.version")
async def test_everybody_gets_the_document_of_the_version_that_runs() -> None:
    async with client() as http:
        answer = await http.get("/openapi.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == public_document(VERSION, schemas_of_all(SHAPES))
    assert answer.json()["info"]["version"] == VERSION


async def test_many_who_ask_at_once_get_the_same() -> None:
    answers: list[bytes] = []

    async def ask() -> None:
        answers.append((await http.get("/openapi.json")).content)

    async with client() as http, anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(ask)
    assert len(answers) == 5 and len(set(answers)) == 1
