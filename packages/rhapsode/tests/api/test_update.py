"""The routes that say whether a newer release exists."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import httpx
import pytest
from rhapsode.api import health
from rhapsode.api.guard.admission import Rules
from rhapsode.api.guard.guard import Guard
from rhapsode.api.update import routes
from rhapsode.residency.manager import ResidencyManager
from rhapsode.settings.model import ResidencySettings, UpdateSettings
from rhapsode.update.updates import Updates
from rhapsode.workers.fleet import Fleet
from rhapsode_http import TcpAddress, beside
from rhapsode_http.testing import http_only, serving
from starlette.applications import Starlette

pytestmark = pytest.mark.anyio

Serve = Callable[..., AbstractAsyncContextManager[Any]]

NOBODY = "http://127.0.0.1:1/releases/latest"


@asynccontextmanager
async def serving_updates(
    *, is_on: bool, fleet: Fleet | None = None, asked: str = NOBODY
) -> AsyncGenerator[httpx.AsyncClient]:
    """Gives a client whom nobody knows. With a fleet there is a health, too."""
    app = Starlette(routes=[*routes, *health.routes])
    rules = Rules(token=b"secret", origins=frozenset(), hosts=frozenset())
    stranger = {"X-Forwarded-For": "203.0.113.7"}
    with anyio.fail_after(20):
        async with (
            anyio.create_task_group() as tasks,
            serving(http_only(Guard(app, rules))) as box,
        ):
            if fleet is not None:
                app.state.fleet = fleet
                app.state.residency = ResidencyManager(
                    fleet, settings=ResidencySettings, keep_alive_of=lambda _: None, tasks=tasks
                )
            app.state.updates = Updates(lambda: is_on, {}, tasks, release_url_of_api=asked)
            address = box.addresses[0]
            assert isinstance(address, TcpAddress)
            url = f"http://{address.authority}"
            # Unverified, since there is no TLS: reading certificates takes longer than a test.
            client = httpx.AsyncClient(
                base_url=url, headers=stranger, trust_env=False, verify=False, timeout=15
            )
            async with client as http:
                yield http
            tasks.cancel_scope.cancel()


@pytest.mark.contract("9.update.open", "9.update.off", "9.update.check-respects-off")
async def test_everybody_is_answered_and_a_check_that_is_off_says_so() -> None:
    async with serving_updates(is_on=False) as http:
        for answer in (await http.get("/update"), await http.post("/update/check")):
            assert answer.status_code == 200
            expected = {"version": "0.1.0", "check": "off", "distribution": "source"}
            assert answer.json() == expected


@pytest.mark.contract("9.update.open", "9.update.failed", "9.update.pending")
async def test_a_failure_is_an_answer_and_no_error() -> None:
    async with serving_updates(is_on=True) as http:
        assert (await http.get("/update")).json()["check"] == "pending"
        asked = await http.post("/update/check")
        assert (asked.status_code, asked.json()["check"]) == (200, "failed")
        assert (await http.get("/update")).json() == asked.json()


@pytest.mark.contract("9.update.only-when-asked", "9.update.never-waits")
async def test_a_look_is_answered_while_the_check_that_it_set_off_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    came = anyio.Event()

    async def say_nothing(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            came.set()
            await anyio.sleep_forever()

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as silent,
        beside(lambda: silent.serve(say_nothing)),
    ):
        port = silent.extra(anyio.abc.SocketAttribute.local_port)
        async with serving_updates(is_on=True, asked=f"http://127.0.0.1:{port}/") as http:
            for _ in range(2):
                assert (await http.get("/update")).json()["check"] == "pending"
            await came.wait()
            assert (await http.get("/update")).json()["check"] == "pending"


@pytest.mark.contract("9.update.not-health")
async def test_nothing_of_a_check_reaches_the_health_of_the_server(serve: Serve) -> None:
    async with serve({}) as box, serving_updates(is_on=True, fleet=box.core.fleet) as http:
        before = (await http.get("/health")).json()
        assert (await http.post("/update/check")).json()["check"] == "failed"
        after = (await http.get("/health")).json()
    assert after == before
    assert (after["status"], after.keys() & {"check", "latest", "update"}) == ("ok", set())


@pytest.mark.contract("9.update.open")
async def test_a_page_of_any_origin_is_answered() -> None:
    async with serving_updates(is_on=False) as http:
        page = {"Origin": "https://page.example"}
        assert (await http.post("/update/check", headers=page)).status_code == 200


@pytest.mark.contract("9.update.off")
def test_it_is_on_where_nobody_says_otherwise() -> None:
    assert UpdateSettings().check is True
