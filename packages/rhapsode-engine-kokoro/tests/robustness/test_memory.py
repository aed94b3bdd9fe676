"""What a worker holds does not grow with what it has said."""

import random
import resource
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import httpx
import pytest

from .stock import VARIANT, WEIGHTS
from .worker import REAL, Worker, running

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's /proc"),
]

SEED: Final = 5
FIRST: Final = 100
ALL: Final = 500

MOST_DATA_GROWTH_BYTES: Final = 16 << 20
"""Of what was asked of the system, between the hundredth request and the last. The samples of one
answer here are 50 to 150 KB: left behind by every other request they would be more, and one of the
network's own tensors at each would be hundreds of times that."""

MOST_RESIDENT_GROWTH_BYTES: Final = 64 << 20
"""Of what was ever written to. The network's allocator reserves hundreds of megabytes at once, and
each length of a text that is new lays its tensors elsewhere in them, so this one still creeps
where nothing more is asked for."""

MOST_MORE: Final = 10
"""Threads, and descriptors: pools breathe by a few. One that each listener who left had left behind
would be 57."""

_STACK_BYTES: Final = resource.getrlimit(resource.RLIMIT_STACK)[0]
"""What a thread's stack is reserved with."""

WORDS: Final = (
    *("harbor", "seven", "lantern", "orchard", "nobody", "quickly", "bridge", "winter"),
    *("a", "the", "of", "remembers", "painted", "Tuesday", "eleven", "thousand"),
)


LONG: Final = (
    "The old lighthouse stood at the edge of the harbor for nearly two hundred years, and every"
    " evening its keeper climbed the narrow stairs to light the lamp."
)

LEAVES_AFTER_SECONDS: Final = 1.0
"""It takes three to speak all of that, on a machine of its own."""


@dataclass(frozen=True)
class Held:
    """What a process and its children hold."""

    data_bytes: int
    """What it can write to, its threads' stacks among it."""
    resident_bytes: int
    """What of all it can use lies in memory."""
    threads: int
    descriptors: int


def held_by(pid: int) -> Held:
    """Counts a process and everything below it."""
    family = list(_family(pid))
    status = "".join((Path("/proc") / str(each) / "status").read_text() for each in family)
    return Held(
        _kilobytes(status, "VmData:") << 10,
        _kilobytes(status, "VmRSS:") << 10,
        sum(_entries(each, "task") for each in family),
        sum(_entries(each, "fd") for each in family),
    )


def texts() -> Iterator[str]:
    """Yields 1 to 4 words, with a number here and there; the same each time."""
    chance = random.Random(SEED)
    while True:
        words = chance.choices(WORDS, k=chance.randint(1, 4))
        if chance.random() < 0.2:
            words.append(str(chance.randint(100, 999)))
        yield f"{' '.join(words).capitalize()}."


def ask(client: httpx.Client, number: int, text: str) -> None:
    """Asks for one utterance, streamed or buffered; every seventh listener leaves in its midst."""
    body = {
        "variant": VARIANT,
        "text": text,
        "voice": ("af_heart", "am_michael", "bf_emma")[number % 3],
        "stream": number % 2 == 0,
        "format": ("pcm", "wav", "mp3", "opus")[number % 4],
    }
    if number % 7 == 0:
        leave(client, {**body, "text": LONG})
        return
    answer = client.post("/speak", json=body)
    assert answer.status_code == 200, answer.text
    assert len(answer.content) > 500


def leave(client: httpx.Client, body: Mapping[str, object]) -> None:
    """Asks and goes: with the first sound, or, where all would come at once, before any."""
    with (
        suppress(httpx.ReadTimeout),
        client.stream("POST", "/speak", json=body, timeout=LEAVES_AFTER_SECONDS) as answer,
    ):
        assert body["stream"]
        assert answer.status_code == 200
        next(answer.iter_raw())


def test_five_hundred_requests_leave_memory_threads_and_descriptors_as_they_were() -> None:
    assert WEIGHTS.exists(), "script/test fetches the weights"
    with running(WEIGHTS, *REAL) as worker, worker.client() as client:
        assert client.post("/load", json={"variant": VARIANT}).is_success
        said = enumerate(islice(texts(), ALL))
        for number, text in islice(said, FIRST):
            ask(client, number, text)
        before = settled(worker, client)
        for number, text in said:
            ask(client, number, text)
        after = settled(worker, client)
    stacks_bytes = max(0, after.threads - before.threads) * _STACK_BYTES
    data_growth_bytes = after.data_bytes - before.data_bytes - stacks_bytes
    assert data_growth_bytes < MOST_DATA_GROWTH_BYTES, (before, after)
    assert after.resident_bytes - before.resident_bytes < MOST_RESIDENT_GROWTH_BYTES
    assert after.threads < before.threads + MOST_MORE
    assert after.descriptors < before.descriptors + MOST_MORE


def settled(worker: Worker, client: httpx.Client) -> Held:
    """Counts once nothing is under way: after one more answer that was waited for whole."""
    ask(client, 1, "The last word.")
    return held_by(worker.pid)


def _family(pid: int) -> Iterator[int]:
    yield pid
    for task in (Path("/proc") / str(pid) / "task").iterdir():
        for child in (task / "children").read_text().split():
            yield from _family(int(child))


def _entries(pid: int, what: str) -> int:
    return len(list((Path("/proc") / str(pid) / what).iterdir()))


def _kilobytes(status: str, field: str) -> int:
    return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith(field))
