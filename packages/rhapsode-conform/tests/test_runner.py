"""Workers that cannot be reached, that hang and that die."""

import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from rhapsode_conform import (
    CHECKS,
    Check,
    Need,
    Options,
    Patience,
    Target,
    Unreachable,
    Verdict,
    check_worker,
)
from rhapsode_conform.outcome import failed
from rhapsode_conform.selection import select
from rhapsode_conform.subject import Subject
from rhapsode_http import UnixAddress, UpstreamTruncated, beside
from rhapsode_http.testing import http_only, serving
from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

PROMISE = CHECKS[0].promise


async def hold(stream: SocketStream) -> None:
    """Takes what is sent, and says nothing."""
    async with stream:
        with suppress(anyio.EndOfStream):
            while True:
                await stream.receive()


async def close(stream: SocketStream) -> None:
    """Hears a request out and leaves."""
    async with stream:
        await stream.receive()


async def a_web_page(_: Scope, __: Receive, send: Send) -> None:
    """Answers whatever is asked."""
    headers = [(b"content-type", b"text/html"), (b"content-length", b"4")]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": b"<hr>"})


@pytest.fixture
def raw(raw_command: tuple[str, ...]) -> Target:
    """A worker that keeps every promise."""
    return Target(command=(*raw_command, "-"), engine="raw")


def options(**patience: float) -> Options:
    return Options(patience=Patience(**patience), environment=dict(os.environ))


def check(run: Callable[[Subject], Awaitable[None]], *needs: Need) -> Check:
    return Check(PROMISE, "these", needs, run)


async def passes(_: Subject) -> None:
    """Finds nothing wrong."""


async def test_an_address_where_nobody_is_is_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rhapsode_conform.first_look._RETRY_SECONDS", 0)
    with pytest.raises(Unreachable, match="nobody.sock"):
        await check_worker(Target(address=UnixAddress(tmp_path / "nobody.sock")), options())


async def test_it_is_said_also_where_time_ends_before_the_tries_do(short_path: Path) -> None:
    address = UnixAddress(short_path / "nobody.sock")
    with pytest.raises(Unreachable, match="no worker answers at .*: cannot reach"):
        await check_worker(Target(address=address), options(start_seconds=0.2))


async def test_a_command_that_is_not_there_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="cannot be run"):
        await check_worker(Target(command=("/no/such/command",)), options())


async def test_the_last_words_of_one_that_ends_at_once_are_told() -> None:
    command = (sys.executable, "-c", "import sys; sys.exit('no weights here')")
    with pytest.raises(Unreachable, match="no weights here"), anyio.fail_after(60):
        await check_worker(Target(command=command), options())


async def test_one_that_says_nothing_is_not_waited_for_for_ever() -> None:
    command = (sys.executable, "-c", "import sys; sys.stdin.read()")
    with pytest.raises(Unreachable, match="nothing within"), anyio.fail_after(60):
        await check_worker(Target(command=command), options(start_seconds=0.5))


async def test_an_address_that_takes_connections_and_says_nothing_is_unreachable(
    short_path: Path,
) -> None:
    address = UnixAddress(short_path / "mute.sock")
    with (
        pytest.raises(Unreachable, match="no worker answers at .*: nothing came within"),
        anyio.fail_after(60),
    ):
        listener = await anyio.create_unix_listener(address.path)
        async with listener, beside(lambda: listener.serve(hold)):
            await check_worker(Target(address=address), options(start_seconds=0.2))


async def test_a_server_that_is_no_worker_is_unreachable(short_path: Path) -> None:
    address = UnixAddress(short_path / "web.sock")
    with pytest.raises(Unreachable, match="no worker answers"), anyio.fail_after(60):
        async with serving(http_only(a_web_page), address=address):
            await check_worker(Target(address=address), options())


async def test_one_that_breaks_every_connection_is_unreachable(short_path: Path) -> None:
    address = UnixAddress(short_path / "rude.sock")
    with pytest.raises(Unreachable, match="no worker answers"), anyio.fail_after(60):
        listener = await anyio.create_unix_listener(address.path)
        async with listener, beside(lambda: listener.serve(close)):
            await check_worker(Target(address=address), options())


async def test_a_variant_that_is_not_listed_is_unreachable(raw: Target) -> None:
    with pytest.raises(Unreachable, match="plain"), anyio.fail_after(60):
        await check_worker(raw, Options(variant="fancy", environment=dict(os.environ)))


async def test_a_worker_that_dies_under_a_check_has_failed_it_and_is_replaced(raw: Target) -> None:
    async def kills(subject: Subject) -> None:
        assert subject.worker is not None
        subject.worker.process.kill()
        await subject.worker.exited()

    async def answers(subject: Subject) -> None:
        assert (await subject.wire.get("/health")).status == 200

    with anyio.fail_after(60):
        report = await check_worker(raw, options(), [check(kills), check(answers)])
    assert [each.outcome.verdict for each in report.results] == [Verdict.FAILED, Verdict.PASSED]
    assert "ended" in report.results[0].outcome.why


async def test_what_was_recorded_before_is_not_said_again_by_the_next_worker(raw: Target) -> None:
    async def hears_and_kills(subject: Subject) -> None:
        assert subject.worker is not None
        await subject.heard()
        subject.worker.process.kill()
        await subject.worker.exited()

    async def hears(subject: Subject) -> None:
        await subject.heard()
        assert all(each.method == "GET" for each in subject.wire.answers)

    with anyio.fail_after(60):
        report = await check_worker(raw, options(), [check(hears_and_kills), check(hears)])
    assert [each.outcome.verdict for each in report.results] == [Verdict.FAILED, Verdict.PASSED]


async def test_each_claim_gives_a_check_as_long_again(raw: Target) -> None:
    async def claims(subject: Subject) -> None:
        soon = anyio.current_time() + 20
        subject.waiting.deadline = soon
        assert anyio.current_effective_deadline() == soon
        await subject.claimed("full", text="It is going to rain. [laugh]")
        assert anyio.current_effective_deadline() > soon

    with anyio.fail_after(60):
        report = await check_worker(raw, options(check_seconds=40), [check(claims)])
    assert report.failed == ()


async def test_checks_that_are_never_settled_are_given_up_after_three(raw: Target) -> None:
    with anyio.fail_after(60):
        hangs = [check(lambda _: anyio.sleep_forever()) for _ in range(3)]
        report = await check_worker(raw, options(check_seconds=0.1), [*hangs, check(passes)])
    verdicts = [each.outcome.verdict for each in report.results]
    assert verdicts == [Verdict.FAILED] * 3 + [Verdict.UNDECIDED]
    assert report.unasked == 1


async def test_an_answer_without_an_end_fails_who_asked_and_nobody_else(
    raw_command: tuple[str, ...],
) -> None:
    async def hears(subject: Subject) -> None:
        await subject.heard(stream=True)

    async def counts(subject: Subject) -> None:
        await subject.wire.sizes_of_chunks("/speak", subject.request({"stream": True}))

    endless = Target(command=(*raw_command, "endless"), engine="raw")
    with anyio.fail_after(60):
        report = await check_worker(
            endless, options(), [check(hears), check(counts), check(passes)]
        )
    outcomes = [each.outcome for each in report.results]
    assert [each.why for each in outcomes[:2]] == ["an answer has no end"] * 2
    assert outcomes[2].verdict is Verdict.PASSED


async def test_a_finding_is_the_outcome_and_a_bug_of_ours_no_pass(raw: Target) -> None:
    async def finds(_: Subject) -> None:
        raise failed("it is wrong", "this")

    async def trips(_: Subject) -> None:
        raise KeyError("what")

    with anyio.fail_after(60):
        report = await check_worker(raw, options(), [check(finds), check(trips)])
    assert [each.outcome.why for each in report.results][0] == "it is wrong"
    assert report.failed == (PROMISE.id, PROMISE.id)


async def test_what_one_of_several_requests_at_once_came_to_is_the_outcome(
    raw: Target, caplog: pytest.LogCaptureFixture
) -> None:
    async def several(_: Subject) -> None:
        async def ask() -> None:
            raise UpstreamTruncated("the connection ended")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(ask)

    with anyio.fail_after(60):
        report = await check_worker(raw, options(), [check(several)])
    outcome = report.results[0].outcome
    assert (outcome.why, outcome.seen) == ("a request got no answer", "the connection ended")
    assert caplog.messages == []


async def test_a_worker_that_dies_of_speaking_is_found_to(raw_command: tuple[str, ...]) -> None:
    """And it does listen on TCP."""
    target = Target(command=(*raw_command, "dies of speaking"), engine="raw")
    checks = select(CHECKS, only=["2.spawn.listen-tcp", "1.transport.tcp", "d.queue.limit"])
    with anyio.fail_after(60):
        report = await check_worker(target, options(), checks)
    outcomes = {result.check.id: result.outcome for result in report.results}
    assert outcomes["2.spawn.listen-tcp"].verdict is Verdict.PASSED
    assert outcomes["1.transport.tcp"].verdict is Verdict.FAILED
    assert "status 9" in outcomes["1.transport.tcp"].seen
    assert outcomes["d.queue.limit"].why == "a request got no answer"


async def test_what_a_check_needs_and_a_worker_lacks_is_skipped(raw: Target) -> None:
    plain = Options(variant="plain", environment=dict(os.environ))
    with anyio.fail_after(60):
        report = await check_worker(raw, plain, [check(passes, Need.CLONING)])
    outcome = report.results[0].outcome
    assert (outcome.verdict, outcome.why) == (Verdict.SKIPPED, "it needs a variant that clones")


async def test_one_variant_can_be_looked_at_alone(raw: Target) -> None:
    seen: list[str] = []

    async def notes(subject: Subject) -> None:
        seen.extend(subject.variants)

    chosen = Options(variant="full", environment=dict(os.environ))
    with anyio.fail_after(60):
        checks = [check(notes), *select(CHECKS, only=["6.language.unlisted", "5"])]
        report = await check_worker(raw, chosen, checks)
    assert seen == ["full"]
    assert report.failed == ()


async def test_nothing_is_left_of_a_worker_that_was_started(tmp_path: Path, raw: Target) -> None:
    pids: list[int] = []

    async def notes(subject: Subject) -> None:
        assert subject.worker is not None
        pids.append(subject.worker.process.pid)

    with anyio.fail_after(60):
        await check_worker(raw, options(), [check(notes)])
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
