"""Between a worker's handshake and its first answer; with real processes."""

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.patience import Patience
from rhapsode.workers.worker import Worker
from rhapsode_contract import Internal, ModelUnavailable

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]
IsAlive = Callable[[int], bool]

AT_ONCE = Patience(pauses_seconds=(0.0,))

SHAKES_HANDS = """
import json, os, signal, socket, sys
mark = {mark!r}
is_first = not os.path.exists(mark)
with open(mark, "a") as file:
    file.write(f"{{os.getpid()}};")
listen = os.environ["RHAPSODE_WORKER_LISTEN"]
if {is_for_ever!r} or is_first:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(listen.removeprefix("unix:"))
    listener.listen()
    words = {{"ready": True, "contract": 1, "engine": "tone", "listen": listen}}
    print(json.dumps(words), flush=True)
    asking, _ = listener.accept()
    print("never a word", file=sys.stderr, flush=True)
    with open(mark, "a") as file:
        file.write("asked;")
    {then}
from rhapsode_engine_tone.engine import ToneEngine
from rhapsode_worker import serve
os.path.exists(listen.removeprefix("unix:")) and os.unlink(listen.removeprefix("unix:"))
serve(ToneEngine())
"""
"""A worker whose first process, or each, does something else than say what it can do."""

BABBLE = r'asking.sendall(b"\xff what did you say?\r\n\r\n"); signal.pause()'


def shakes_hands(mark: Path, then: str, *, is_for_ever: bool = False) -> EngineEntry:
    code = SHAKES_HANDS.format(mark=str(mark), then=then, is_for_ever=is_for_ever)
    return EngineEntry(command=(sys.executable, "-c", code))


async def until(is_so: Callable[[], bool]) -> None:
    """Waits for what nobody is told of."""
    while not is_so():  # noqa: ASYNC110 (a turn of the loop would starve the process)
        await anyio.sleep(0.01)


@pytest.mark.contract("2.crash.restarted")
@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("os._exit(3)", "status 3"),
    ],
    ids=["killed", "exits"],
)
async def test_one_that_dies_before_its_first_answer_has_crashed_and_is_restarted(
    open_worker: OpenWorker, tmp_path: Path, then: str, said: str
) -> None:
    async with open_worker(shakes_hands(tmp_path / "mark", then), patience=AT_ONCE) as worker:
        with pytest.raises(ModelUnavailable, match=f"{said} before") as refusal:
            await worker.ensure_up()
        assert "never a word" in refusal.value.message
        await until(lambda: worker.summary().process == "up")  # nobody has asked for it
        assert worker.summary().restarts == 1
        assert said in (worker.summary().last_error or "")


async def test_one_that_lives_and_says_nothing_that_can_be_read_is_not_tried_again(
    open_worker: OpenWorker, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    entry = shakes_hands(mark, BABBLE, is_for_ever=True)
    async with open_worker(entry, grace_seconds=0.2, patience=AT_ONCE) as worker:
        with pytest.raises(Internal, match="did not say what it can do"):
            await worker.ensure_up()
        await anyio.wait_all_tasks_blocked()
        assert worker.summary().process == "down"
        assert mark.read_text().count("asked") == 1


async def test_an_end_before_the_first_answer_is_no_later_than_its_grace(
    open_worker: OpenWorker, tmp_path: Path, is_alive: IsAlive
) -> None:
    mark = tmp_path / "mark"
    entry = shakes_hands(mark, "signal.pause()", is_for_ever=True)
    async with open_worker(entry, startup_seconds=1000, grace_seconds=0.2) as worker:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(worker.ensure_up)
                await until(lambda: mark.exists() and mark.read_text().endswith("asked;"))
                scope.cancel()
        await worker.end()
        assert worker.summary().process == "down"
        pid = int(mark.read_text().partition(";")[0])
        await until(lambda: not is_alive(pid))  # its launcher is reaped by us, it by the system
