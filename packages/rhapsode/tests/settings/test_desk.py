"""Changes that come at once, and clients that leave."""

import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from rhapsode.settings.caller import Caller
from rhapsode.settings.desk import SettingsDesk
from rhapsode.settings.file import load_settings
from rhapsode.settings.folders import Folders
from rhapsode.settings.live import LiveSettings
from rhapsode.settings.patch import SettingsPatch
from rhapsode.start_checks import start_checks
from rhapsode_contract import BadRequest

pytestmark = pytest.mark.anyio

HERE = Caller(is_local=True)


class SlowStore:
    """Writes when it is let."""

    def __init__(self) -> None:
        self.written: list[Mapping[str, Any]] = []
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def write_settings(self, changes: Mapping[str, Any]) -> None:
        self.written.append(changes)
        self.has_begun.set()
        assert self.may_end.wait(20)

    async def begun(self) -> None:
        while not self.has_begun.is_set():
            await checkpoint()


@asynccontextmanager
async def desk(folder: Path, store: SlowStore) -> AsyncGenerator[tuple[SettingsDesk, LiveSettings]]:
    live = LiveSettings(load_settings(None, Folders(folder, folder, folder, None)))
    try:
        with anyio.fail_after(20):
            yield SettingsDesk(live, store, start_checks), live
    finally:
        store.may_end.set()


def keep_alive(seconds: int) -> SettingsPatch:
    return SettingsPatch(residency={"keepAliveSeconds": seconds})


@pytest.mark.contract("10.settings.atomic")
async def test_a_change_waits_for_the_one_before_to_be_in_use(tmp_path: Path) -> None:
    store = SlowStore()
    async with desk(tmp_path, store) as (counter, live), anyio.create_task_group() as tasks:
        tasks.start_soon(counter.change, keep_alive(1), HERE)
        await store.begun()
        tasks.start_soon(counter.change, keep_alive(2), HERE)
        await anyio.wait_all_tasks_blocked()
        assert len(store.written) == 1
        # Nobody is held up who only looks, and what is not written is not in use.
        assert counter.document().values["residency"]["keepAliveSeconds"] == 300
        store.may_end.set()
    assert [changes["residency.keepAliveSeconds"] for changes in store.written] == [1, 2]
    assert live.current.residency.keep_alive_seconds == 2


@pytest.mark.contract("10.settings.atomic")
async def test_a_change_whose_client_leaves_is_in_use_if_it_is_written(tmp_path: Path) -> None:
    store = SlowStore()
    async with desk(tmp_path, store) as (counter, live), anyio.create_task_group() as tasks:
        tasks.start_soon(counter.change, keep_alive(1), HERE)
        await store.begun()
        tasks.cancel_scope.cancel()
        store.may_end.set()
    assert live.current.residency.keep_alive_seconds == 1


@pytest.mark.contract("10.settings.startable")
async def test_a_value_that_nobody_can_look_at_in_time_is_refused(tmp_path: Path) -> None:
    store = SlowStore()
    is_over = threading.Event()

    def wait(_: str) -> None:
        assert is_over.wait(20)

    live = LiveSettings(load_settings(None, Folders(tmp_path, tmp_path, tmp_path, None)))
    counter = SettingsDesk(live, store, lambda _: {"server.host": wait}, check_seconds=0.05)
    try:
        with (
            anyio.fail_after(20),
            pytest.raises(BadRequest, match=r"server\.host: 'h' could not be"),
        ):
            await counter.change(SettingsPatch(server={"host": "h"}), HERE)
    finally:
        is_over.set()
    assert store.written == []
