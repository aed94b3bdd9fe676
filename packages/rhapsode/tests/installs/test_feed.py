"""The event feed of a job."""

import json
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode.installs.feed import (
    KEPT_EVENTS,
    MESSAGE_CHARACTERS,
    Batch,
    Event,
    Feed,
    place_after,
)
from rhapsode_contract import JobEvent, Progress

pytestmark = pytest.mark.anyio

MOMENT = datetime(2026, 9, 18, 14, 2, 11, 4000, tzinfo=UTC)


def open_feed(*jobs: str) -> Feed:
    feed = Feed(now=lambda: MOMENT)
    for job in jobs or ("a",):
        feed.open(job)
    return feed


def tell(feed: Feed, *messages: object, job: str = "a") -> None:
    for message in messages:
        feed.publish(job, "log", message=str(message))


def said(batch: Batch) -> list[str]:
    return [read(event)["message"] for event in batch.events]


def read(event: Event) -> dict[str, Any]:
    return json.loads(event.data)


def publish_bytes(feed: Feed, received: int) -> None:
    progress = Progress(phase="weights", status="running")
    feed.publish("a", "progress", progress=progress, data={"received": received}, is_passing=True)


@pytest.mark.contract("10.events.shape")
def test_an_event_says_what_the_shape_has() -> None:
    feed = open_feed()
    progress = Progress(phase="venv", index=1, total=4, status="running")
    feed.publish("a", "progress", progress=progress)
    feed.publish("a", "log", level="warn", message="slow", data={"x": 1})
    first, second = feed.reader("a").take().events
    assert read(first) == {
        "id": 1,
        "ts": "2026-09-18T14:02:11.004Z",
        "kind": "progress",
        "source": "installs",
        "correlationId": "a",
        "level": "info",
        "progress": {"phase": "venv", "index": 1, "total": 4, "status": "running"},
    }
    assert read(second)["data"] == {"x": 1}
    assert (second.id, second.kind, read(second)["level"]) == (2, "log", "warn")
    JobEvent.model_validate_json(second.data)


@pytest.mark.contract("10.events.ids")
def test_ids_grow_over_all_jobs_and_are_never_used_again() -> None:
    feed = open_feed("a", "b")
    tell(feed, 1, 2)
    tell(feed, 3, job="b")
    tell(feed, 4)
    assert [event.id for event in feed.reader("a").take().events] == [1, 2, 4]
    assert [event.id for event in feed.reader("b").take().events] == [3]
    feed.forget("b")
    feed.open("b")
    tell(feed, 5, job="b")
    assert [event.id for event in feed.reader("b").take().events] == [5]


@pytest.mark.contract("10.events.replay")
def test_a_reader_gets_what_is_kept_and_then_what_comes() -> None:
    feed = open_feed()
    tell(feed, 1, 2)
    reader = feed.reader("a")
    assert said(reader.take()) == ["1", "2"]
    assert said(reader.take()) == []
    tell(feed, 3)
    assert said(reader.take()) == ["3"]


@pytest.mark.contract("10.events.resume")
def test_a_reader_that_comes_back_goes_on_where_it_was() -> None:
    feed = open_feed()
    tell(feed, 1, 2, 3)
    batch = feed.reader("a", "2").take()
    assert (batch.has_gap, said(batch)) == (False, ["3"])
    batch = feed.reader("a", "3").take()
    assert (batch.has_gap, said(batch)) == (False, [])
    assert said(feed.reader("a", "").take()) == ["1", "2", "3"]  # a browser sends none then


@pytest.mark.contract("10.events.resync")
@pytest.mark.parametrize(
    "place", ["4", "9" * 24, "9" * 5000, "-1", "x", "1.0", "²", "١", " 2", "0x2", "\0"]
)
def test_a_place_from_elsewhere_is_a_gap_and_what_is_kept_follows(place: str) -> None:
    feed = open_feed()
    tell(feed, 1, 2, 3)
    reader = feed.reader("a", place)
    batch = reader.take()
    assert (batch.has_gap, said(batch)) == (True, ["1", "2", "3"])
    tell(feed, 4)
    batch = reader.take()
    assert (batch.has_gap, said(batch)) == (False, ["4"])


@pytest.mark.contract("10.events.resync")
async def test_a_place_from_elsewhere_is_told_of_even_before_the_first_event() -> None:
    reader = open_feed().reader("a", "7")
    with anyio.fail_after(5):
        await reader.wait()
    assert reader.take() == Batch(has_gap=True, events=())


@pytest.mark.contract("10.events.buffer", "10.events.resync")
def test_a_thousand_events_are_kept_and_a_place_before_them_is_a_gap() -> None:
    feed = open_feed("a", "b")
    tell(feed, *range(1, KEPT_EVENTS + 3))
    tell(feed, "other", job="b")
    assert KEPT_EVENTS == 1000
    kept = [str(n) for n in range(3, KEPT_EVENTS + 3)]
    assert feed.reader("a").take() == feed.reader("a", "2").take()
    assert said(feed.reader("a").take()) == kept
    batch = feed.reader("a", "1").take()
    assert (batch.has_gap, said(batch)) == (True, kept)
    assert said(feed.reader("b").take()) == ["other"]


@pytest.mark.contract("10.events.slow-reader")
def test_a_reader_that_takes_nothing_holds_nothing_up_and_then_hears_of_its_gap() -> None:
    feed = open_feed()
    tell(feed, "first")
    reader = feed.reader("a")
    assert said(reader.take()) == ["first"]
    tell(feed, *range(5 * KEPT_EVENTS))
    batch = reader.take()
    assert batch.has_gap
    assert said(batch) == [str(n) for n in range(4 * KEPT_EVENTS, 5 * KEPT_EVENTS)]
    assert not reader.take().has_gap


@pytest.mark.contract("10.events.bytes")
def test_a_download_keeps_one_place_in_the_buffer_and_flushes_nothing_out_of_it() -> None:
    feed = open_feed()
    tell(feed, "pip said this")
    watching = feed.reader("a")
    for received in range(3 * KEPT_EVENTS):
        publish_bytes(feed, received)
    late = feed.reader("a").take()
    assert [read(event).get("message") for event in late.events] == ["pip said this", None]
    assert read(late.events[-1])["data"] == {"received": 3 * KEPT_EVENTS - 1}
    assert watching.take() == late
    resumed = feed.reader("a", "1").take()
    assert (resumed.has_gap, len(resumed.events)) == (False, 1)


def test_a_figure_that_was_lost_from_the_buffer_does_not_trip_the_next() -> None:
    feed = open_feed()
    publish_bytes(feed, 1)
    tell(feed, *range(KEPT_EVENTS))
    publish_bytes(feed, 2)
    assert read(feed.reader("a").take().events[-1])["data"] == {"received": 2}


def test_a_message_is_cut_where_it_is_long_and_is_always_unicode() -> None:
    feed = open_feed()
    tell(feed, "x" * 10_000, "half a pair: \ud800", "a line\nand another\r\0")
    long, odd, broken = (read(event)["message"] for event in feed.reader("a").take().events)
    assert long == "x" * MESSAGE_CHARACTERS
    assert odd == "half a pair: ?"
    assert broken == "a line\nand another\r\0"
    assert all(b"\n" not in event.data for event in feed.reader("a").take().events)


@pytest.mark.parametrize("end", ["forget", "close"])
async def test_a_reader_takes_the_rest_when_no_more_will_come_and_is_over_then(end: str) -> None:
    feed = open_feed()
    reader, late = feed.reader("a"), feed.reader("a", "7")
    assert not reader.is_over
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader.wait)
        await anyio.wait_all_tasks_blocked()
        tell(feed, 1)
        feed.forget("a") if end == "forget" else feed.close()
    assert not reader.is_over
    assert said(reader.take()) == ["1"]
    assert reader.is_over
    with anyio.fail_after(5):
        await reader.wait()
    assert not late.is_over
    assert late.take().has_gap
    assert late.is_over


async def test_every_reader_wakes_when_something_comes() -> None:
    feed = open_feed()
    woken: list[str] = []

    async def watch() -> None:
        reader = feed.reader("a")
        await reader.wait()
        woken.extend(said(reader.take()))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(watch)
            await anyio.wait_all_tasks_blocked()
            assert woken == []
            tell(feed, "now")
    assert woken == ["now"] * 3


@given(st.integers(0, 9), st.integers(0, 9), st.integers(-2, 12))
def test_a_place_is_good_from_the_last_lost_event_to_the_newest(
    lost: int, more: int, place: int
) -> None:
    newest = lost + more
    expected = place if lost <= place <= newest else None
    assert place_after(str(place), lost, newest) == expected


@given(st.lists(st.sampled_from(["tell", "take", "bytes", "come back"]), max_size=60))
def test_a_reader_that_keeps_up_or_comes_back_gets_every_line_once_and_in_order(
    steps: list[str],
) -> None:
    feed = open_feed()
    reader, seen_id = feed.reader("a"), 0
    lines: list[str] = []
    got: list[str] = []
    for number, step in enumerate([*steps, "take"]):
        if step == "tell":
            lines.append(str(number))
            tell(feed, number)
        elif step == "bytes":
            publish_bytes(feed, number)
        elif step == "come back":
            reader = feed.reader("a", str(seen_id))
        else:
            batch = reader.take()
            assert not batch.has_gap
            got += [read(event)["message"] for event in batch.events if event.kind == "log"]
            seen_id = max([seen_id, *(event.id for event in batch.events)])
    assert got == lines
