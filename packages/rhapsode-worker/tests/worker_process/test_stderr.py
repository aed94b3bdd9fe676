"""Standard error is JSON lines, whatever Python code writes on it."""

import json

import pytest

from .worker import ADAPTERS, Worker, ask, running

pytestmark = pytest.mark.anyio

NOISY = str(ADAPTERS / "noisy.py")


def said(worker: Worker, logger: str) -> list[str]:
    """What one logger's lines say."""
    return [line["message"] for line in worker.log if line["logger"] == logger]


@pytest.mark.contract("2.logs.json-lines")
async def test_what_libraries_write_with_python_is_logged_line_by_line() -> None:
    async with running(NOISY, engine="noisy") as worker:
        async with worker.client as client:
            assert (await ask(client, "POST", "/load"))[0] == 200
            assert (await ask(client, "GET", "/voices"))[0] == 200
        worker.signal()
        assert await worker.ended() == 0
        lines = said(worker, "stderr")
        for line in (
            "a plain line",
            "bytes: \u00e9",
            *("0% of the weights", "50% of the weights", "100% of the weights"),
            "WARNING:library:said by a library's own handler",
            "no end of line",
        ):
            assert line in lines
        assert sum(len(line) for line in lines if set(line) == {"y"}) == 100_000
        assert max(map(len, lines)) <= 16 * 1024
        (warning,) = said(worker, "py.warnings")
        assert "deprecated thing" in warning
        traces = [line["exception"] for line in worker.log if "exception" in line]
        assert len(traces) == 2
        assert "ZeroDivisionError" in traces[0]
        assert "failed unseen" in traces[1]


async def test_lines_of_many_threads_are_never_torn() -> None:
    async with running(NOISY, engine="noisy") as worker:
        async with worker.client as client:
            assert (await ask(client, "POST", "/speak", {"text": "threads"}))[0] == 200
        worker.signal()
        assert await worker.ended() == 0
        counted = [line for line in said(worker, "stderr") if line.startswith("thread ")]
        assert sorted(counted) == sorted(
            f"thread {number} line {line}" for number in range(8) for line in range(200)
        )


async def test_what_is_written_below_python_stays_as_it_is() -> None:
    async with running(NOISY, engine="noisy") as worker:
        async with worker.client as client:
            assert (await ask(client, "POST", "/speak", {"text": "native"}))[0] == 200
        worker.signal()
        assert await worker.ended() == 0
        lines = worker.stderr.decode().splitlines()
        raw = {"written below Python", "by a child"}
        assert raw <= set(lines)
        assert all(json.loads(line) for line in lines if line not in raw)
