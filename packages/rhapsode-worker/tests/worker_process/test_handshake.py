"""From the spawn to the one line on standard output, and to the first answer."""

import json
import socket
import stat
from pathlib import Path

import anyio
import pytest
from rhapsode_http import Client, UnixAddress

from .worker import ADAPTERS, TONE, ask, running, spawned

pytestmark = pytest.mark.anyio

SPEECH = {"text": "Hello."}


@pytest.mark.contract(
    "1.protocol.by-hand",
    "1.transport.unix",
    "2.handshake.bound",
    "2.handshake.fields",
    "2.handshake.one-line",
    "2.logs.json-lines",
    "2.spawn.listen-unix",
    "2.spawn.three-suffice",
    "2.stop.exits-zero",
    "9.answer.reported",
)
async def test_three_variables_make_a_worker_that_speaks_and_leaves_nothing_behind() -> None:
    async with running() as worker:
        listen = worker.handshake["listen"]
        path = anyio.Path(listen.removeprefix("unix:"))
        assert worker.handshake == {
            "ready": True,
            "contract": 1,
            "engine": "tone",
            "listen": listen,
        }
        async with worker.client as client:
            status, body = await ask(client, "GET", "/capabilities")
            assert (status, json.loads(body)["contract"]) == (200, 1)
            for format in ("wav", "opus"):
                assert (await ask(client, "POST", "/speak", {**SPEECH, "format": format}))[0] == 200
        worker.signal()
        assert await worker.ended() == 0
        assert worker.left_behind() == []
        assert not await path.exists()
        assert worker.handshake["ready"]  # still the only line there was
        assert {"ts", "level", "logger", "message"} <= worker.log[0].keys()


@pytest.mark.contract("d.sockets.private")
async def test_a_socket_is_for_its_owner_alone() -> None:
    async with running() as worker:
        path = anyio.Path(worker.handshake["listen"].removeprefix("unix:"))
        assert stat.S_IMODE((await path.stat()).st_mode) == 0o600
        assert stat.S_IMODE((await path.parent.stat()).st_mode) == 0o700


@pytest.mark.contract("1.transport.tcp", "2.spawn.listen-tcp")
async def test_a_free_port_is_named_in_the_handshake() -> None:
    async with running(listen="tcp:127.0.0.1:0") as worker:
        host, _, port = worker.handshake["listen"].removeprefix("tcp:").rpartition(":")
        assert (host, int(port) > 0) == ("127.0.0.1", True)
        async with worker.client as client:
            assert (await ask(client, "POST", "/speak", SPEECH))[0] == 200


async def test_started_by_hand_it_needs_no_variable_at_all() -> None:
    async with spawned(*TONE) as worker:
        await worker.has_shaken_hands.wait()
        assert worker.handshake["listen"].startswith("tcp:127.0.0.1:")
        async with worker.client as client:
            assert (await ask(client, "GET", "/health"))[0] == 200


@pytest.mark.contract("9.answer.highest", "9.answer.reported")
async def test_a_higher_offer_is_answered_with_what_the_worker_speaks() -> None:
    async with running(environ={"RHAPSODE_WORKER_CONTRACT": "7"}) as worker:
        assert worker.handshake["contract"] == 1
        async with worker.client as client:
            assert json.loads((await ask(client, "GET", "/capabilities"))[1])["contract"] == 1


async def test_the_socket_of_a_dead_worker_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "w.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    async with running(listen=f"unix:{path}") as worker:
        async with Client(UnixAddress(path)) as client:
            assert (await ask(client, "GET", "/health"))[0] == 200
        worker.signal()
        assert await worker.ended() == 0


@pytest.mark.contract("2.handshake.stdout-reserved", "8.serve.stdout-captured")
async def test_nothing_printed_anywhere_reaches_standard_output() -> None:
    async with running(str(ADAPTERS / "chatty.py"), engine="chatty") as worker:
        async with worker.client as client:
            assert (await ask(client, "POST", "/speak", SPEECH))[0] == 200
            assert (await ask(client, "GET", "/voices"))[0] == 200
            assert (await ask(client, "POST", "/unload"))[0] == 200
        await worker.says("printed in unload")
        worker.signal()
        assert await worker.ended() == 0
        assert worker.handshake["engine"] == "chatty"
        printed = [line["message"] for line in worker.log if line["logger"] == "stdout"]
        for said in (
            "printed at import",
            "printed in load",
            "written below Python",
            "printed by a child",
            "printed in voices",
            "printed in unload",
        ):
            assert said in printed
        assert sum(line.count("x") for line in printed if set(line) == {"x"}) == 100_000
        assert any('"engine":"fake"' in line for line in printed)


async def test_what_a_dead_worker_left_of_an_upload_is_gone_before_the_handshake(
    tmp_path: Path,
) -> None:
    incoming = tmp_path / ".store" / "incoming"
    incoming.mkdir(parents=True)
    (incoming / "0123456789abcdef.wav").write_bytes(b"half a clip")
    async with running(environ={"RHAPSODE_VOICE_DIR": str(tmp_path)}):
        assert [path.name for path in incoming.iterdir()] == []
