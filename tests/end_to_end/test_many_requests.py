"""Many requests at once, and clients that leave in every moment."""

import random
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from .core_process import PATIENCE_SECONDS, CoreProcess, core, process_of, tone

pytestmark = pytest.mark.slow

VOICES = ["a3", "a4", "c5", "e5", "a5"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[CoreProcess]:
    with core(tmp_path_factory.mktemp("core"), tone()) as running:
        yield running


def asked(**fields: Any) -> dict[str, Any]:
    return {"engine": "tone", "text": "Hello there."} | fields


def client(running: CoreProcess) -> httpx.Client:
    # Unverified, since there is no TLS: reading the authorities' certificates takes longer than
    # the requests.
    return httpx.Client(
        base_url=running.url, timeout=PATIENCE_SECONDS * 2, trust_env=False, verify=False
    )


@pytest.mark.contract("6.seed.reproduces")
def test_parallel_requests_never_get_one_anothers_audio(running: CoreProcess) -> None:
    requests = [
        asked(voice=VOICES[n % 5], seed=n, text=f"Number {n}.", stream=n % 2 == 0)
        for n in range(20)
    ]
    with client(running) as http, ThreadPoolExecutor(20) as pool:

        def ask(body: dict[str, Any]) -> bytes:
            return http.post("/speak", json=body).content

        alone = [ask(body) for body in requests]
        together = list(pool.map(ask, requests))
    assert together == alone
    assert len(set(alone)) == 20


@pytest.mark.contract("6.errors.overloaded", "d.queue.limit", "d.errors.retry-after")
def test_two_hundred_at_once_are_each_spoken_or_told_to_come_back(running: CoreProcess) -> None:
    pid = process_of(running) if running.log else None

    def ask(_: int) -> tuple[int, bool]:
        with client(running) as http:
            answer = http.post("/speak", json=asked(text="word " * 40))
        return answer.status_code, "retry-after" in answer.headers

    with ThreadPoolExecutor(200) as pool:
        answers = set(pool.map(ask, range(200)))
    assert answers <= {(200, False), (429, True), (503, True)}
    assert (200, False) in answers
    summary = running.get("/engines")[0]
    assert (summary["process"], summary["restarts"]) == ("up", 0)
    assert pid in {None, process_of(running)}


def test_two_hundred_requests_half_of_them_abandoned_leave_nothing_behind(
    running: CoreProcess,
) -> None:
    random_ = random.Random(7)

    async def ask(http: httpx.AsyncClient, leaves_after: float | None) -> None:
        with anyio.move_on_after(leaves_after if leaves_after is not None else 60):
            answer = await http.post("/speak", json=asked(text="word " * 50, stream=True))
            assert answer.status_code in {200, 429}

    async def all_of_them() -> None:
        async with (
            httpx.AsyncClient(base_url=running.url, timeout=60, trust_env=False) as http,
            anyio.create_task_group() as tasks,
        ):
            for number in range(50):
                tasks.start_soon(ask, http, random_.random() / 10 if number % 2 else None)

    with client(running) as http:
        http.post("/speak", json=asked())
    for _ in range(4):
        anyio.run(all_of_them)
    with client(running) as http:
        assert http.post("/speak", json=asked()).status_code == 200
    health = running.get("/health")
    assert health["residency"]["waiting"] == 0
    assert health["engines"][0]["restarts"] == 0
    # The core keeps at most 64 idle connections to a worker, and needs a few files of its own; one
    # for each request that was abandoned would be more than that.
    assert len(list(Path(f"/proc/{running.process.pid}/fd").iterdir())) < 64 + 30


@pytest.mark.contract("6.stream.chunked", "6.stream.constant-memory")
def test_the_first_byte_comes_while_most_is_still_to_be_made(tmp_path: Path) -> None:
    with core(tmp_path, tone("pace=4")) as running, client(running) as http:
        http.post("/speak", json=asked(text="Hi."))
        made: list[str] = []
        with http.stream("POST", "/speak", json=asked(text="word " * 20, stream=True)) as answer:
            pieces = answer.iter_raw()
            next(pieces)
            made.extend(str(line["message"]) for line in running.log)
            body = b"".join(pieces)
        assert made[-1].startswith("speaking")
        assert len(body) > 100_000


@pytest.mark.contract("d.queue.responsive")
@pytest.mark.parametrize("flag", ["hang-in-load", "hang-in-speak", "hold-the-interpreter=2"])
def test_health_and_engines_answer_whatever_the_engine_does(tmp_path: Path, flag: str) -> None:
    grace = "drainGraceMs = 200"
    running_core = core(tmp_path, tone(flag), grace)
    with running_core as running, client(running) as http, running.curl() as curl:
        running.wait_for(lambda line: "loading" in line["message"])
        for _ in range(50):
            assert http.get("/health").status_code == 200
            assert http.get("/engines").json()[0]["process"] == "up"
        curl.kill()
