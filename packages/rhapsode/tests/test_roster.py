"""Engines that come, change and go while the core runs, with real processes of the tone engine."""

import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from rhapsode.residency.manager import ResidencyManager
from rhapsode.roster import LiveRoster
from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.file import load_settings
from rhapsode.settings.folders import Folders
from rhapsode.settings.live import LiveSettings
from rhapsode.state import StateDatabase
from rhapsode.workers.fleet import Fleet
from rhapsode.workers.local import Surroundings
from rhapsode.workers.sockets import socket_folder
from rhapsode_contract import Conflict, Internal, UnknownEngine

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

Tone = Callable[..., EngineEntry]


async def until(is_so: Callable[[], bool]) -> None:
    """Waits for what nobody is told of."""
    while not is_so():  # noqa: ASYNC110 (a turn of the loop would starve the process)
        await anyio.sleep(0.01)


def nobody(received: int, total: int | None) -> None:
    """Hears how far a fetch is."""


@dataclass
class Box:
    """A core without its HTTP."""

    roster: LiveRoster
    fleet: Fleet
    residency: ResidencyManager
    live: LiveSettings
    state: StateDatabase

    @asynccontextmanager
    async def speaking(self, engine: str) -> AsyncGenerator[None]:
        """Holds an engine's model as an utterance does."""
        async with self.residency.lease(engine, "plain"):
            await self.fleet.worker(engine).ensure_loaded("plain")
            yield


@asynccontextmanager
async def open_box(folder: Path, sockets_in: Path) -> AsyncGenerator[Box]:
    """Gives a box without engines for the length of the block."""
    folders = Folders(folder / "c", folder / "d", sockets_in, None)
    (folder / "c").mkdir(exist_ok=True)
    with (
        anyio.fail_after(40),
        StateDatabase.open(folder / "c" / "rhapsode.db") as state,
        socket_folder(sockets_in / "s") as sockets,
    ):
        loaded = load_settings(None, folders, state.contents())
        live = LiveSettings(loaded)
        async with anyio.create_task_group() as tasks:
            surroundings = Surroundings(
                environ=os.environ,
                python=sys.executable,
                sockets=sockets,
                voice_dir=folder / "voices",
                startup_seconds=20,
                grace_seconds=2,
                load_seconds=20,
                max_restarts=5,
                restart_decay_seconds=300,
            )
            entries = loaded.settings.engines
            fleet = Fleet(entries, surroundings, tasks, lambda _: None, lambda _, __: None)
            residency = ResidencyManager(
                fleet,
                settings=lambda: live.current.residency,
                keep_alive_of=live.keep_alive_of,
                tasks=tasks,
            )
            roster = LiveRoster(entries, loaded.origins, state, live, fleet, residency)
            yield Box(roster, fleet, residency, live, state)
            residency.close()
            tasks.cancel_scope.cancel()


async def test_an_engine_that_is_registered_speaks_and_is_there_after_the_next_start(
    tmp_path: Path, short_path: Path, tone: Tone
) -> None:
    entry = tone().model_copy(update={"accepted": "MIT"})
    async with open_box(tmp_path, short_path) as box:
        await box.roster.register("tone", entry, wait_seconds=0)
        async with box.speaking("tone"):
            assert box.roster.origin("tone") == "database"
        assert box.live.engines == ("tone",)
    async with open_box(tmp_path, short_path) as box:
        assert box.roster.entry("tone") == entry
        async with box.speaking("tone"):
            assert box.roster.engines() == ["tone"]


async def test_one_that_changes_ends_its_old_process_and_runs_the_new_one(
    tmp_path: Path, short_path: Path, tone: Tone
) -> None:
    async with open_box(tmp_path, short_path) as box:
        await box.roster.register("tone", tone(), wait_seconds=0)
        async with box.speaking("tone"):
            old = (await box.fleet.worker("tone").ensure_up()).pid
        await box.roster.register("tone", tone("print"), wait_seconds=0)
        with pytest.raises(ProcessLookupError):
            os.kill(old, 0)
        assert box.residency.report().resident == 0
        async with box.speaking("tone"):
            assert box.fleet.worker("tone").entry == tone("print")


async def test_who_waits_while_it_changes_speaks_on_the_new_one(
    tmp_path: Path, short_path: Path, tone: Tone
) -> None:
    spoken: list[EngineEntry] = []

    async def speak(box: Box) -> None:
        async with box.speaking("tone"):
            spoken.append(box.fleet.worker("tone").entry)

    async def change(box: Box) -> None:
        await box.roster.register("tone", tone("print"), wait_seconds=10)

    async with open_box(tmp_path, short_path) as box:
        await box.roster.register("tone", tone(), wait_seconds=0)
        async with anyio.create_task_group() as tasks, box.speaking("tone"):
            tasks.start_soon(change, box)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(speak, box)
            await anyio.wait_all_tasks_blocked()
        assert spoken == [tone("print")]


async def test_one_that_speaks_is_neither_changed_nor_removed(
    tmp_path: Path, short_path: Path, tone: Tone
) -> None:
    async with open_box(tmp_path, short_path) as box:
        await box.roster.register("tone", tone(), wait_seconds=0)
        async with box.speaking("tone"):
            with pytest.raises(Conflict):
                await box.roster.register("tone", tone("print"), wait_seconds=0.1)
            with pytest.raises(Conflict):
                await box.roster.remove("tone")
            assert box.roster.entry("tone") == tone()
            assert list(box.state.engines()) == ["tone"]
        async with box.speaking("tone"):
            assert box.fleet.worker("tone").entry == tone()


async def test_one_that_is_removed_is_gone_everywhere(
    tmp_path: Path, short_path: Path, tone: Tone
) -> None:
    async with open_box(tmp_path, short_path) as box:
        await box.roster.register("tone", tone(), wait_seconds=0)
        worker = box.fleet.worker("tone")
        async with box.speaking("tone"):
            pass
        await box.roster.remove("tone")
        assert (box.roster.engines(), box.roster.origin("tone")) == ([], None)
        assert (list(box.fleet), box.live.engines, box.state.engines()) == ([], (), {})
        assert box.residency.report().resident == 0
        with pytest.raises(UnknownEngine):
            await worker.ensure_up()  # whoever held it from before
        async with box.residency.lease("tone", "plain"):
            pass  # who waited in line leaves nothing behind
        assert box.residency.report().resident == 0


async def test_what_cannot_be_recorded_changes_nothing(
    tmp_path: Path, short_path: Path, tone: Tone
) -> None:
    async with open_box(tmp_path, short_path) as box:
        await box.roster.register("tone", tone(), wait_seconds=0)
        async with box.speaking("tone"):
            pid = (await box.fleet.worker("tone").ensure_up()).pid
        box.state._connection.execute("PRAGMA query_only = ON")  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(Internal, match=r"rhapsode\.db"):
            await box.roster.register("tone", tone("print"), wait_seconds=0)
        with pytest.raises(Internal, match=r"rhapsode\.db"):
            await box.roster.remove("tone")
        assert box.roster.entry("tone") == tone()
        async with box.speaking("tone"):
            assert (await box.fleet.worker("tone").ensure_up()).pid == pid


async def test_nobody_starts_a_process_of_one_that_is_being_removed(
    tmp_path: Path, short_path: Path, tone: Tone, is_alive: Callable[[int], bool]
) -> None:
    async with open_box(tmp_path, short_path) as box:
        await box.roster.register("tone", tone(), wait_seconds=0)
        worker = box.fleet.worker("tone")
        pid = (await worker.ensure_up()).pid
        os.kill(pid, signal.SIGSTOP)  # its end takes as long as it may
        refused: list[UnknownEngine] = []

        async def look() -> None:
            with pytest.raises(UnknownEngine) as caught:
                await worker.ensure_up()
            refused.append(caught.value)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.roster.remove, "tone")
            await until(lambda: worker.summary().process == "draining")
            tasks.start_soon(look)  # waits for the end of the process that is there
        assert len(refused) == 1
        assert not is_alive(pid)
        assert worker.summary().process == "down"
        box.residency.report()


async def test_one_on_another_machine_that_is_not_there_is_removed_all_the_same(
    tmp_path: Path, short_path: Path
) -> None:
    async with open_box(tmp_path, short_path) as box:
        box.state.record_engine("away", {"url": "http://127.0.0.1:9"})
    async with open_box(tmp_path, short_path) as box:
        assert list(box.fleet) == ["away"]
        await box.roster.remove("away")
        assert (box.roster.engines(), list(box.fleet), box.live.engines) == ([], [], ())
        assert box.state.engines() == {}
        assert box.residency.summary().resident == 0


async def test_one_that_dies_while_it_is_removed_is_not_started_again(
    tmp_path: Path, short_path: Path, tone: Tone
) -> None:
    async with open_box(tmp_path, short_path) as box:
        await box.roster.register("tone", tone("hang-in-unload"), wait_seconds=0)
        worker = box.fleet.worker("tone")
        async with box.speaking("tone"):
            pid = (await worker.ensure_up()).pid
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.residency.free, "tone", "unload")
            await until(lambda: worker.summary().model == "unloading")
            tasks.start_soon(box.roster.remove, "tone")
            await until(lambda: not box.roster.engines())
            os.kill(pid, signal.SIGKILL)
        assert list(box.fleet) == []
        assert worker.summary().process == "down"


async def test_a_fetch_that_had_to_make_room_goes_on(
    tmp_path: Path, short_path: Path, second_tone: EngineEntry
) -> None:
    code = (
        "from pathlib import Path\n"
        "import time\n"
        "from rhapsode_engine_tone.engine import ToneEngine\n"
        "from rhapsode_worker import serve\n"
        f"begun = Path({str(tmp_path / 'begun')!r})\n"
        "def fetch(self, variant):\n"
        "    if begun.exists():\n"
        "        return\n"
        "    begun.touch()\n"
        "    time.sleep(60)\n"
        "serve(type('Slow', (ToneEngine,), {'fetch': fetch})())"
    )
    slow = EngineEntry(command=(sys.executable, "-c", code))
    async with open_box(tmp_path, short_path) as box:
        await box.roster.register("tone", slow, wait_seconds=0)
        await box.roster.register("other", second_tone, wait_seconds=0)
        async with box.speaking("tone"):
            pass
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.roster.fetch, "tone", "plain", nobody)
            await until((tmp_path / "begun").exists)
            async with box.speaking("other"):
                pass
