"""`GET /installs/{job}/events`, as a client reads it from a socket."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from rhapsode.api.sse import HEARTBEAT_SECONDS, event_stream
from rhapsode.installs.feed import KEPT_EVENTS, Feed
from rhapsode_contract import JobEvent
from rhapsode_http.testing import connected

from .box import Served, downloads, serve_box

pytestmark = pytest.mark.anyio


@dataclass
class Frame:
    """One frame as a client's parser sees it."""

    fields: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.fields["data"])

    @property
    def status(self) -> str | None:
        if self.fields["event"] != "progress":
            return None
        return self.event["progress"]["status"]


@asynccontextmanager
async def following(
    served: Served, job: str, *, last: str | None = None, query: str = ""
) -> AsyncGenerator[AsyncIterator[Frame]]:
    """Follows a job for the length of the block."""
    headers = {} if last is None else {"Last-Event-ID": last}
    path = f"/installs/{job}/events{query}"
    async with served.http.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        yield frames(answer)


async def frames(answer: httpx.Response) -> AsyncIterator[Frame]:
    frame = Frame()
    async for line in answer.aiter_lines():
        if not line:
            if frame.fields:
                yield frame
            frame = Frame()
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            assert name not in frame.fields
            frame.fields[name] = value.removeprefix(" ")


async def to_the_end(frames: AsyncIterator[Frame]) -> list[Frame]:
    """Returns frames up to the one at which a client closes."""
    got: list[Frame] = []
    async for frame in frames:
        got.append(frame)
        if frame.status in {"done", "failed"}:
            return got
    raise AssertionError("the stream ended before the job did")


async def start(served: Served, engine: str = "tone", query: str = "") -> str:
    answer = await served.http.post(f"/engines/{engine}/install{query}")
    assert answer.status_code == 202
    return answer.json()["id"]


@pytest.mark.contract("10.events.shape", "10.events.kinds", "10.events.last", "10.events.ids")
async def test_a_client_watches_an_install_to_its_end(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        served.box.builder.hangs_at = "packages"
        job = await start(served)
        async with following(served, job) as feed:
            await served.box.builder.hangs.wait()
            served.box.builder.may_go_on.set()
            got = await to_the_end(feed)
        for frame in got:
            assert set(frame.fields) == {"id", "event", "data"}
            event = JobEvent.model_validate(frame.event)
            assert (str(event.id), event.kind) == (frame.fields["id"], frame.fields["event"])
            assert (event.source, event.correlation_id) == ("installs", job)
        ids = [int(frame.fields["id"]) for frame in got]
        assert ids == sorted(set(ids))
        phases = [f.event["progress"]["phase"] for f in got if f.status == "running"]
        assert phases == ["venv", "packages", "verify", "register"]
        assert [frame.fields["event"] for frame in got[-2:]] == ["status", "progress"]
        assert [frame.status for frame in got].count("done") == 1
        assert (await served.http.get(f"/installs/{job}")).json()["state"] == "succeeded"


@pytest.mark.contract("10.events.last", "10.events.kinds")
async def test_a_client_watches_a_failure_to_its_end(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        served.box.builder.breaks_at = "packages"
        job = await start(served)
        async with following(served, job) as feed:
            got = await to_the_end(feed)
        assert [frame.fields["event"] for frame in got[-2:]] == ["error", "progress"]
        assert got[-1].event["progress"]["phase"] == "packages"
        assert got[-2].event["message"] == "pip install: no compiler, in packages"


@pytest.mark.contract("10.events.bytes")
async def test_a_pull_is_watched_to_its_last_byte(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        served.box.roster.fetches = downloads
        job = await start(served, query="?pull=sine")
        async with following(served, job) as feed:
            got = await to_the_end(feed)
        told = [frame.event for frame in got if "data" in frame.event]
        assert told[-1]["data"] == {"received": 4, "total": 4}
        assert told[-1]["progress"] == {
            "phase": "weights",
            "index": 5,
            "total": 5,
            "status": "running",
        }


@pytest.mark.contract("10.events.stays-open", "10.events.replay")
async def test_one_who_comes_after_the_end_gets_the_last_event_and_the_stream_stays_open(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        job = await start(served)
        await served.box.until_over(job)
        async with following(served, job) as feed:
            got = await to_the_end(feed)
            assert got[0].event["progress"]["phase"] == "venv"
            with anyio.move_on_after(0.05) as wait:
                await anext(feed)
            assert wait.cancelled_caught  # neither ended nor was there more


@pytest.mark.contract("10.events.resume")
async def test_a_client_that_reconnects_goes_on_behind_what_it_saw(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        job = await start(served)
        await served.box.until_over(job)
        async with following(served, job) as feed:
            whole = await to_the_end(feed)
        seen = whole[2].fields["id"]
        async with following(served, job, last=seen) as feed:
            rest = await to_the_end(feed)
        assert rest == whole[3:]


@pytest.mark.contract("10.events.resync")
async def test_a_client_that_missed_something_is_told_to_read_the_job_again(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        job = await start(served)
        await served.box.until_over(job)
        for last in ("x", "999999999", "-1"):
            async with following(served, job, last=last) as feed:
                first = await anext(feed)
                assert first.fields == {"event": "resync", "data": ""}
                assert (await to_the_end(feed))[-1].status == "done"


@pytest.mark.contract("10.events.pinned")
async def test_no_parameter_shows_another_jobs_events(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        first, second = await start(served), await start(served, "hum")
        await served.box.until_over(second)
        for parameter in ("correlationId", "job", "source", "filter", "id"):
            async with following(served, first, query=f"?{parameter}={second}") as feed:
                got = await to_the_end(feed)
            assert {frame.event["correlationId"] for frame in got} == {first}


@pytest.mark.contract("d.stream.headers")
async def test_the_stream_is_one_of_events_that_nobody_keeps_or_holds_back(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        job = await start(served)
        async with served.http.stream("GET", f"/installs/{job}/events") as answer:
            headers = answer.headers
        head = await served.http.head(f"/installs/{job}/events")
        with anyio.fail_after(5):  # on the same connection, whose answer is therefore over
            assert (await served.http.get(f"/installs/{job}")).status_code == 200
    for given in (headers, head.headers):
        assert given["content-type"] == "text/event-stream; charset=utf-8"
        assert (given["cache-control"], given["x-accel-buffering"]) == ("no-store", "no")


@pytest.mark.contract("10.events.slow-reader")
async def test_a_client_that_reads_nothing_holds_no_job_up(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        served.box.builder.hangs_at = "packages"
        job = await start(served)
        async with connected(served.address, receive_buffer_bytes=65536) as client:
            request = f"GET /installs/{job}/events HTTP/1.1\r\nHost: x\r\n\r\n"
            await client.send(request.encode())
            await client.read_until(b"event: progress")
            for number in range(20 * KEPT_EVENTS):
                served.box.feed.publish(job, "log", message=f"{number} " + "x" * 500)
                if number % 100 == 0:
                    await anyio.lowlevel.checkpoint()
            served.box.builder.may_go_on.set()
            with anyio.fail_after(10):
                await served.box.until_over(job)
            with anyio.fail_after(10):
                await client.read_until(b"event: resync\ndata:\n\n")
                await client.read_until(b'"status":"done"')


async def test_the_streams_end_when_the_server_stops_once_they_have_told_everything(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        job = await start(served)
        await served.box.until_over(job)
        async with following(served, job) as feed:
            await to_the_end(feed)
            served.box.feed.close()
            assert [frame async for frame in feed] == []
        async with following(served, job) as feed:
            assert [frame async for frame in feed][-1].status == "done"


@pytest.mark.contract("d.stream.events-heartbeat")
async def test_a_comment_is_sent_again_and_again_whatever_else_is() -> None:
    assert HEARTBEAT_SECONDS == 15
    feed = Feed()
    feed.open("a")
    got: list[bytes] = []
    with anyio.fail_after(5):
        async for piece in event_stream(feed.reader("a"), heartbeat_seconds=0.01):
            got.append(piece)
            if piece == b":\n\n":
                feed.publish("a", "log", message="x")
            if got.count(b":\n\n") == 3:
                break
    assert [piece[:1] for piece in got] == [b":", b"i", b":", b"i", b":"]


async def test_a_batch_is_sent_in_pieces_of_a_bounded_size() -> None:
    feed = Feed()
    feed.open("a")
    for _ in range(KEPT_EVENTS):
        feed.publish("a", "log", message="x" * 2000)
    pieces: list[bytes] = []
    async for piece in event_stream(feed.reader("a")):
        pieces.append(piece)
        if b"".join(pieces).count(b"id: ") == KEPT_EVENTS:
            break
    assert all(len(piece) < 70_000 for piece in pieces)
