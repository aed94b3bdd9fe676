"""Starts that cannot succeed: one line that says why, exit status 3, no handshake."""

import socket
from pathlib import Path

import anyio
import pytest

from .worker import TONE, spawned

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

ADAPTER = """
from rhapsode_worker import *

class Odd(Engine):
    id = "odd"
    display_name = "Odd"
    license = dict(code="MIT", weights="none", weights_commercial_use=True)
    native_format = NativeFormat()
    def variants(self): return {{"only": Variant()}}
    def load(self, variant): ...
    def unload(self): ...
    def voices(self): return []
    def speak(self, req): yield b""
    {oddity}

serve(Odd())
"""


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"RHAPSODE_WORKER_CONTRACT": "0"}, ["contract 0", "1"]),
        ({"RHAPSODE_WORKER_ENGINE": "kokoro"}, ["kokoro", "tone"]),
        ({"RHAPSODE_WORKER_LISTEN": "unix:/" + "x" * 120}, ["longer"]),
        ({"RHAPSODE_WORKER_LISTEN": "tcp:0.0.0.0:0"}, ["0.0.0.0", "RHAPSODE_WORKER_TOKEN"]),
        ({"RHAPSODE_WORKER_LIFELINE": "fd:3"}, ["RHAPSODE_WORKER_LIFELINE"]),
    ],
    ids=["contract", "engine", "path", "network", "lifeline"],
)
@pytest.mark.contract("9.refuse.too-low", "d.network.no-token")
async def test_what_the_environment_says_wrongly_is_named(
    environ: dict[str, str], said: list[str]
) -> None:
    async with spawned(*TONE, environ=environ) as worker:
        assert await worker.ended() == 3
        await worker.says("critical")
        assert worker.stdout == b""
        (line,) = worker.log
        assert "exception" not in line
        assert all(word in line["message"] for word in said)


@pytest.mark.contract("2.start.stderr-is-message")
async def test_a_refusal_is_words_and_begins_with_no_number_of_the_system(tmp_path: Path) -> None:
    await anyio.Path(tmp_path).chmod(0o755)
    environ = {"RHAPSODE_WORKER_LISTEN": f"unix:{tmp_path}/w.sock"}
    async with spawned(*TONE, environ=environ) as worker:
        assert await worker.ended() == 3
        await worker.says("critical")
        assert worker.messages[-1].startswith(f"the socket folder {tmp_path} is open to others")


async def test_an_address_that_another_process_has_is_not_taken_from_it(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "w.sock"))
        other.listen()
        environ = {"RHAPSODE_WORKER_LISTEN": f"unix:{tmp_path}/w.sock"}
        async with spawned(*TONE, environ=environ) as worker:
            assert await worker.ended() == 3
            await worker.says("another process listens")
            assert worker.stdout == b""


@pytest.mark.parametrize(
    ("oddity", "said"),
    [
        ("del id", "declares no id"),
        ("license = dict(code='MIT')", "weights"),
        ("serve = lambda: serve(Odd)\n\nserve(Odd)", "not its class"),
    ],
)
async def test_an_adapter_that_declares_nonsense_never_serves(oddity: str, said: str) -> None:
    async with spawned("-c", ADAPTER.format(oddity=oddity)) as worker:
        assert await worker.ended() == 3
        await worker.says("critical")
        assert worker.stdout == b""
        assert said in worker.messages[-1]


async def test_an_adapter_that_breaks_at_its_start_is_a_crash_with_its_traceback() -> None:
    oddity = "def variants(self): return 1 / 0"
    async with spawned("-c", ADAPTER.format(oddity=oddity)) as worker:
        assert await worker.ended() == 1
        await worker.says("ZeroDivisionError")
        assert worker.stdout == b""
