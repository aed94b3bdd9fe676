"""How a worker ends, and what it has left on its streams (contract § 2)."""

import json
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import anyio
from rhapsode_http import UpstreamError

from rhapsode_conform.another import another
from rhapsode_conform.answer import Answer, as_json_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.checks.concurrency import LONG_CHARACTERS, long_request
from rhapsode_conform.outcome import expect, failed, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.spawned import Spawned
from rhapsode_conform.subject import SEED, Subject
from rhapsode_conform.wire import JSON_TYPE, Wire

_OVER: Final = "it had ended before it could be asked"
_SILENT: Final = "nothing came on standard error"
_LOG_FIELDS: Final = ("level", "message")
_DRAIN_CHECKS: Final = 5
"""How many times what a check may take a drain may go on, as long as audio comes."""

_WHOLE_SHARE: Final = 0.9
"""Of what another answer to the same request holds: what is as good as all of it."""
_LEAST_SHARE: Final = 1 / 3
"""Of as long as its sentences sound one by one, as `6.speak.whole` has it: where no other answer
to the same request can be as long as it."""

Ask = Callable[[Spawned, Wire], Awaitable[Answer | None]]


@dataclass
class _Leaving:
    """What a worker did that was told to end with a request in flight."""

    answer: Answer | None = None
    """To being told over HTTP; None where it was a signal."""
    refused: Answer | None = None
    health: Answer | None = None
    spoken: Answer | None = None
    """To the request in flight."""
    status: int | None = None
    """None: it had not ended in time."""


async def _by_signal(worker: Spawned, _: Wire) -> None:
    worker.signal(signal.SIGTERM)


async def _by_verb(_: Spawned, wire: Wire) -> Answer:
    return await wire.post("/terminate")


async def _left(subject: Subject, how: str, ask: Ask) -> _Leaving:
    """Starts a worker, has it speak at length, tells it to end, and watches."""

    async def look() -> _Leaving:
        leaving = _Leaving()
        async with another(subject) as (worker, wire):
            await _speak_and_end(subject, worker, wire, ask, leaving)
            await wire.aclose()  # nothing is kept open that its end could wait for
            with anyio.move_on_after(subject.patience.exit_seconds):
                leaving.status = await worker.exited()
        return leaving

    return await subject.once(how, look)


async def _speak_and_end(
    subject: Subject, worker: Spawned, wire: Wire, ask: Ask, leaving: _Leaving
) -> None:
    body = json.dumps(await _seeded(subject)).encode()
    async with wire.open("POST", "/speak", body, JSON_TYPE) as response:
        begun = await response.read()
        leaving.answer = await ask(worker, wire)
        try:
            leaving.health = await _draining(wire)
            leaving.refused = await wire.post("/speak", subject.request({}))
        except UpstreamError:
            pass  # it has left already
        hear = _patient(subject)
        leaving.spoken = await wire.rest(response, "POST", "/speak", begun=begun, hear=hear)


async def _seeded(subject: Subject) -> dict[str, object]:
    """Returns a long request; with a seed where that makes each answer to it as long as another."""
    request = long_request(subject)
    return request | {"seed": SEED} if await subject.reproduces() else request


async def _whole(subject: Subject) -> Answer:
    """Returns what is answered to it where nobody is told to end."""

    async def ask() -> Answer:
        body = json.dumps(await _seeded(subject)).encode()
        subject.wait_on()
        hear = _patient(subject)
        return await subject.wire.send("POST", "/speak", body, JSON_TYPE, hear=hear)

    return await subject.once("long and whole", ask)


def _patient(subject: Subject) -> Callable[[], None]:
    """Returns what gives the check that runs as long again at each piece of audio: a slow engine
    is at work. Not for ever."""
    latest = anyio.current_time() + _DRAIN_CHECKS * subject.patience.check_seconds

    def hear() -> None:
        if anyio.current_time() < latest:
            subject.wait_on()

    return hear


async def _draining(wire: Wire) -> Answer:
    """Returns its health once that says it drains, or has been asked often enough.

    A signal is on its way for a moment; a request does not overtake it by much.
    """
    answer = await wire.get("/health")
    for _ in range(100):
        if answer.object.get("process") == "draining":
            break
        await anyio.sleep(0.01)
        answer = await wire.get("/health")
    return answer


async def _drained(subject: Subject) -> _Leaving:
    return await _left(subject, "left by signal", _by_signal)


@check("2.stop.refuses", Need.SPAWNED)
async def refuses(subject: Subject) -> None:
    """After SIGTERM a new request is refused."""
    leaving = await _drained(subject)
    if leaving.refused is None:
        raise undecided(_OVER)
    is_refused = leaving.refused.is_refusal
    expect(is_refused, "a worker that was sent SIGTERM takes no new request", leaving.refused)


@check("6.errors.overloaded", Need.SPAWNED)
async def overloaded(subject: Subject) -> None:
    """And in this way."""
    leaving = await _drained(subject)
    if leaving.refused is None or not leaving.refused.is_refusal:
        raise undecided("nothing was refused; see 2.stop.refuses")
    is_called = (leaving.refused.status, leaving.refused.code) == (429, "overloaded")
    expect(is_called, "a draining worker refuses with 429 `overloaded`", leaving.refused)


@check("d.drain.reads", Need.SPAWNED)
async def drain_reads(subject: Subject) -> None:
    """Health is answered to the end, and says what is going on."""
    leaving = await _drained(subject)
    if leaving.health is None:
        raise undecided(_OVER)
    health = leaving.health
    is_told = health.status == 200 and health.object.get("process") == "draining"
    expect(is_told, "a draining worker answers /health, and says that it drains", health)


@check("2.stop.finishes", Need.SPAWNED)
async def finishes(subject: Subject) -> None:
    """What was being spoken is spoken to its end."""
    await _expect_finished(subject, await _drained(subject), "SIGTERM")


@check("2.stop.exits-zero", Need.SPAWNED)
async def exits_zero(subject: Subject) -> None:
    """Status 0."""
    _expect_end(subject, await _drained(subject), "SIGTERM")


@check("2.stop.terminate", Need.SPAWNED)
async def terminate(subject: Subject) -> None:
    """The same, asked for over HTTP."""
    leaving = await _left(subject, "left by verb", _by_verb)
    is_taken = leaving.answer is not None and leaving.answer.status == 202
    expect(is_taken, "/terminate answers 202", leaving.answer)
    _expect_end(subject, leaving, "/terminate")
    await _expect_finished(subject, leaving, "/terminate")


async def _expect_finished(subject: Subject, leaving: _Leaving, when: str) -> None:
    why = f"a request in flight at {when} is finished"
    spoken = leaving.spoken
    if spoken is None:
        raise failed(why, "nothing of it came")
    expect(not spoken.broken_off, why, spoken.broken_off)
    if not spoken.is_audio:
        raise undecided(f"a long text was not spoken, so nothing was in flight: {spoken}")
    if await subject.reproduces():
        whole = len((await _whole(subject)).body)
        size = len(spoken.body)
        expect(size >= _WHOLE_SHARE * whole, why, f"{size} bytes; a whole answer has {whole}")
        return
    count = subject.texts.sentences_in(subject.variants[subject.variant], LONG_CHARACTERS)
    one_ms = (await subject.sound()).duration_ms
    lasts_ms = as_sound(spoken).duration_ms
    seen = f"it sounds {lasts_ms:.0f} ms, and one of its {count} sentences {one_ms:.0f}"
    expect(lasts_ms >= _LEAST_SHARE * count * one_ms, why, seen)


def _expect_end(subject: Subject, leaving: _Leaving, what: str) -> None:
    if leaving.status is None:
        bound = subject.patience.exit_seconds
        raise failed(f"it ends after {what}", f"it still runs after {bound:g} s")
    seen = f"status {leaving.status}"
    expect(leaving.status == 0, f"after {what} it drains and exits with status 0", seen)


@check("6.abort.worker", Need.SPAWNED)
async def abort(subject: Subject) -> None:
    """The one failure that can be brought about from outside: it is killed while it speaks."""
    body = json.dumps(await _seeded(subject)).encode()
    async with (
        another(subject) as (worker, wire),
        wire.open("POST", "/speak", body, JSON_TYPE) as response,
    ):
        size = len(await response.read())
        if response.is_at_end:
            raise undecided("all of a long text had come before it could be killed")
        worker.process.kill()
        try:
            while piece := await response.read():
                size += len(piece)
        except UpstreamError:
            return
    whole = await _whole(subject)
    if not whole.is_audio or size >= _WHOLE_SHARE * len(whole.body):
        raise undecided("all of a long text was on its way when it was killed")
    seen = f"{size} bytes, ended as if they were all; a whole answer has {len(whole.body)}"
    raise failed("a stream that fails is broken off and never ended as if it were whole", seen)


@check("d.life.ends-with-server", Need.SPAWNED)
async def lifeline(subject: Subject) -> None:
    """The end of its life line is its end."""
    async with another(subject) as (worker, _):
        await worker.cut_lifeline()
        with anyio.move_on_after(subject.patience.exit_seconds):
            await worker.exited()
        seen = f"it still runs {subject.patience.exit_seconds:g} s later"
        is_over = worker.status is not None
        expect(is_over, "told that standard input is its life line, it ends with that", seen)


def _processes(subject: Subject) -> list[Spawned]:
    assert subject.worker is not None, "the check needs a spawned worker"
    return [each for each in (subject.worker, *subject.others) if each.handshake]


@check("2.handshake.stdout-reserved", Need.SPAWNED)
async def stdout_reserved(subject: Subject) -> None:
    """Nothing else, from any process that was started here, whatever it was asked."""
    if len(_processes(subject)) == 1:
        await _drained(subject)  # one process at least has said all that it will
    for worker in _processes(subject):
        noise = [line for line in worker.lines if line.strip() and '"ready"' not in line]
        expect(not noise, "standard output holds the handshake and nothing else", noise[:3])


@check("2.logs.json-lines", Need.SPAWNED)
async def logs(subject: Subject) -> None:
    """Each line of standard error that is meant as a line of the log is one."""
    lines = _logged(subject)
    if not lines:
        raise undecided(_SILENT)
    meant = [line for line in lines if line.startswith("{")]
    expect(meant != [], "the log on standard error is JSON lines", lines[:3])
    for line in meant:
        said = as_json_object(line)
        is_line = all(isinstance(said.get(name), str) for name in _LOG_FIELDS)
        expect(is_line, "a line of the log is JSON with `level` and `message`", line)


@check("2.logs.nothing-raw", Need.SPAWNED)
async def nothing_raw(subject: Subject) -> None:
    """And there are no others."""
    lines = _logged(subject)
    if not lines:
        raise undecided(_SILENT)
    raw = [line for line in lines if not line.startswith("{")]
    expect(not raw, "standard error holds nothing but the log", raw[:3])


def _logged(subject: Subject) -> list[str]:
    return [line for worker in _processes(subject) for line in _whole_lines(worker)]


def _whole_lines(worker: Spawned) -> list[str]:
    # The last line of a process that lives may not have come whole, nor may the last of one that
    # was killed.
    return [
        line for line in worker.stderr.decode(errors="replace").split("\n")[:-1] if line.strip()
    ]
