"""The place, its leases and its line."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rhapsode.residency.slot import Slot
from rhapsode_contract import ModelUnavailable

pytestmark = pytest.mark.anyio


@dataclass
class Card:
    """What happens on the card, in order; the ends are under the test's control."""

    events: list[str] = field(default_factory=list[str])
    may_end: anyio.Event = field(default_factory=anyio.Event)

    async def end(self, engine: str) -> None:
        self.events.append(f"ending {engine}")
        await self.may_end.wait()
        self.events.append(f"ended {engine}")


@asynccontextmanager
async def slots(card: Card, wait_seconds: float = 5) -> AsyncGenerator[Slot]:
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            yield Slot(end=card.end, wait_seconds=lambda: wait_seconds, tasks=tasks)


async def settle() -> None:
    """Lets every task run until all of them wait."""
    await anyio.wait_all_tasks_blocked()


@dataclass
class Reader:
    """A request that holds its lease until it is told to stop."""

    name: str
    card: Card
    slot: Slot
    may_stop: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def read(self) -> None:
        with self.scope:
            async with self.slot.lease(self.name[0], "one"):
                self.card.events.append(f"{self.name} speaks")
                await self.may_stop.wait()
                self.card.events.append(f"{self.name} stops")


async def test_the_old_process_is_gone_before_the_next_model_is_loaded() -> None:
    card = Card()
    async with slots(card) as slot, anyio.create_task_group() as tasks:
        async with slot.lease("a", "one"):
            pass
        reader = Reader("b", card, slot)
        reader.may_stop.set()
        tasks.start_soon(reader.read)
        await settle()
        assert card.events == ["ending a"]
        card.may_end.set()
    assert card.events == ["ending a", "ended a", "b speaks", "b stops"]


async def test_nothing_that_speaks_is_evicted_and_who_comes_later_waits_behind() -> None:
    card = Card()
    card.may_end.set()
    async with slots(card) as slot, anyio.create_task_group() as tasks:
        readers = [Reader(name, card, slot) for name in ("a1", "b1", "a2", "b2")]
        for reader in readers:
            tasks.start_soon(reader.read)
        await settle()
        assert card.events == ["a1 speaks"]
        assert (slot.waiting, slot.blocked_by) == (3, "a")
        for reader in readers:
            reader.may_stop.set()
            await settle()
    spoken = [event for event in card.events if event.endswith("speaks")]
    assert spoken == ["a1 speaks", "b1 speaks", "a2 speaks", "b2 speaks"]


async def test_requests_for_the_model_that_is_there_share_it() -> None:
    card = Card()
    async with slots(card) as slot, slot.lease("a", "one"), slot.lease("a", "one"):
        assert slot.waiting == 0
    assert card.events == []


async def test_another_variant_waits_for_speaking_to_end_and_evicts_nobody() -> None:
    card = Card()
    async with slots(card) as slot, anyio.create_task_group() as tasks:
        reader = Reader("a1", card, slot)
        tasks.start_soon(reader.read)
        await settle()

        async def switch() -> None:
            async with slot.lease("a", "two"):
                card.events.append("switched")

        tasks.start_soon(switch)
        await settle()
        assert card.events == ["a1 speaks"]
        reader.may_stop.set()
    assert card.events == ["a1 speaks", "a1 stops", "switched"]


async def test_a_wait_that_is_too_long_is_model_unavailable_and_names_both_engines() -> None:
    card = Card()
    async with slots(card, wait_seconds=0.01) as slot:
        async with slot.lease("a", "one"):
            with pytest.raises(ModelUnavailable, match=r"'b'.*'a'"):
                async with slot.lease("b", "one"):
                    pass
        assert slot.waiting == 0


async def test_with_no_patience_at_all_an_idle_engine_still_gives_way() -> None:
    card = Card()
    async with slots(card, wait_seconds=0) as slot, anyio.create_task_group() as tasks:
        async with slot.lease("a", "one"):
            pass
        reader = Reader("b", card, slot)
        reader.may_stop.set()
        tasks.start_soon(reader.read)
        await settle()
        assert card.events == ["ending a"]  # and the wait for its end is not cut short
        card.may_end.set()
    assert card.events[-1] == "b stops"


async def test_a_client_that_leaves_the_line_takes_nothing() -> None:
    card = Card()
    async with slots(card) as slot, anyio.create_task_group() as tasks:
        first, left, next_one = (Reader(name, card, slot) for name in ("a1", "b1", "a2"))
        for reader in (first, left, next_one):
            tasks.start_soon(reader.read)
        await settle()
        left.scope.cancel()
        await settle()
        assert card.events == ["a1 speaks", "a2 speaks"]
        first.may_stop.set()
        next_one.may_stop.set()


async def test_an_eviction_whose_cause_has_left_still_ends_and_the_place_is_free() -> None:
    card = Card()
    async with slots(card) as slot, anyio.create_task_group() as tasks:
        async with slot.lease("a", "one"):
            pass
        left = Reader("b1", card, slot)
        tasks.start_soon(left.read)
        await settle()
        left.scope.cancel()
        await settle()
        card.may_end.set()
        async with slot.lease("c", "one"):
            card.events.append("c speaks")
    assert card.events == ["ending a", "ended a", "c speaks"]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["stop", "leave"])),
        min_size=1,
        max_size=12,
    )
)
def test_whatever_comes_one_model_speaks_at_a_time_and_everybody_is_served(
    arrivals: list[tuple[str, str]],
) -> None:
    anyio.run(_check_any_order, arrivals)


async def _check_any_order(arrivals: list[tuple[str, str]]) -> None:
    card = Card()
    card.may_end.set()
    speaking: list[str] = []
    served: list[int] = []

    async def visit(number: int, engine: str, is_leaving: bool) -> None:
        with anyio.CancelScope() as scope:
            if is_leaving:
                tasks.start_soon(cancel_later, scope)
            async with slot.lease(engine, "one"):
                assert set(speaking) <= {engine}
                speaking.append(engine)
                try:
                    await anyio.lowlevel.checkpoint()
                    await anyio.lowlevel.checkpoint()
                finally:
                    speaking.remove(engine)
                served.append(number)

    async def cancel_later(scope: anyio.CancelScope) -> None:
        await anyio.lowlevel.checkpoint()
        scope.cancel()

    async with slots(card) as slot, anyio.create_task_group() as tasks:
        for number, (engine, how) in enumerate(arrivals):
            tasks.start_soon(visit, number, engine, how == "leave")
    assert {n for n, (_, how) in enumerate(arrivals) if how == "stop"} <= set(served)
    assert slot.waiting == 0
