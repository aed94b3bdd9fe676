"""Children: warm, lent, killed, replaced, and never left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable

import anyio
import pytest
from rhapsode_contract.errors import Unsupported
from rhapsode_worker.encoding.encoder import Encoder, EncoderCrashed
from rhapsode_worker.encoding.framing import Kind, pack
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.native_format import NativeFormat

pytestmark = pytest.mark.anyio

Sine = Callable[[NativeFormat, float], bytes]
RunEncoder = Callable[[Encoder, bytes, int], Awaitable[list[bytes]]]

NATIVE = NativeFormat()
CODECS = ("mp3", "opus", "flac")
PIPES_FULL_BYTES = 4_000_000
"""Of FLAC of noise: far more than the pipes and buffers on the way hold."""


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def until(condition: Callable[[], bool]) -> None:
    """Waits for what no event tells from outside; the caller bounds it."""
    while not condition():  # noqa: ASYNC110  # another process has no event to wait for
        await anyio.sleep(0.005)


async def test_one_child_is_warm_at_the_start_and_none_is_left_at_the_end() -> None:
    with anyio.fail_after(20):
        async with EncoderPool() as pool:
            (pid,) = pool.idle_pids
            assert is_alive(pid)
            assert pool.formats == ("wav", "mp3", "opus", "flac", "pcm")
            assert pool.missing == {}
        assert not is_alive(pid)


async def test_a_child_that_hangs_is_killed_with_the_pool() -> None:
    with anyio.fail_after(20):
        async with EncoderPool() as pool:
            (pid,) = pool.idle_pids
            os.kill(pid, signal.SIGSTOP)
        assert not is_alive(pid)


async def test_a_child_is_used_again(
    pool: EncoderPool, sine: Sine, run_encoder: RunEncoder
) -> None:
    before = pool.idle_pids
    for _ in range(5):
        for format in CODECS:
            async with pool.encoder(format, NATIVE) as encoder:
                assert pool.idle_pids == ()
                await run_encoder(encoder, sine(NATIVE, 0.1), 1_000)
    assert pool.idle_pids == before


async def test_ten_responses_at_once_have_a_child_each_and_two_are_kept(
    pool: EncoderPool, sine: Sine, run_encoder: RunEncoder
) -> None:
    pcm = sine(NATIVE, 0.5)
    outcomes: list[bytes] = []

    async def respond() -> None:
        async with pool.encoder("flac", NATIVE) as encoder:
            outcomes.append(b"".join(await run_encoder(encoder, pcm, 3_000)))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(respond)
        assert len(outcomes) == 10
        assert len(set(outcomes)) == 1
        assert 1 <= len(pool.idle_pids) <= 2


async def test_a_response_left_half_way_costs_its_child_and_a_new_one_is_warmed(
    pool: EncoderPool, sine: Sine, run_encoder: RunEncoder
) -> None:
    (pid,) = pool.idle_pids
    with anyio.fail_after(20):
        async with pool.encoder("mp3", NATIVE) as encoder:
            await encoder.write(sine(NATIVE, 0.5))
            await anext(encoder)
        await until(lambda: bool(pool.idle_pids) and not is_alive(pid))
        async with pool.encoder("mp3", NATIVE) as encoder:
            assert await run_encoder(encoder, sine(NATIVE, 0.5), 3_000)


async def test_a_cancelled_response_wakes_both_tasks_and_leaves_no_process(
    pool: EncoderPool,
) -> None:
    (pid,) = pool.idle_pids
    with anyio.fail_after(20):
        async with pool.encoder("flac", NATIVE) as encoder:
            with anyio.move_on_after(0.1):
                async with anyio.create_task_group() as group:
                    group.start_soon(encoder.write, os.urandom(PIPES_FULL_BYTES))
                    await anyio.sleep_forever()
        await until(lambda: not is_alive(pid))


async def test_a_writer_far_ahead_of_the_reader_waits_and_loses_nothing(
    pool: EncoderPool,
) -> None:
    noise = os.urandom(PIPES_FULL_BYTES)
    has_finished = anyio.Event()
    encoded = 0

    async def write(encoder: Encoder) -> None:
        await encoder.write(noise)
        await encoder.finish()
        has_finished.set()

    with anyio.fail_after(30):
        async with pool.encoder("flac", NATIVE) as encoder, anyio.create_task_group() as group:
            group.start_soon(write, encoder)
            await anyio.wait_all_tasks_blocked()
            assert not has_finished.is_set()
            async for piece in encoder:
                encoded += len(piece)
    assert encoded > PIPES_FULL_BYTES  # noise does not compress


@pytest.mark.parametrize("format", CODECS)
async def test_a_child_killed_in_a_response_fails_the_reader_and_the_writer(
    format: str, pool: EncoderPool, sine: Sine, run_encoder: RunEncoder
) -> None:
    (pid,) = pool.idle_pids
    failures: list[EncoderCrashed] = []

    async def write(encoder: Encoder) -> None:
        try:
            while True:
                await encoder.write(os.urandom(60_000))
        except EncoderCrashed as error:
            failures.append(error)

    with anyio.fail_after(20):
        async with pool.encoder(format, NATIVE) as encoder, anyio.create_task_group() as group:
            group.start_soon(write, encoder)
            await anext(encoder)
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(EncoderCrashed):
                async for _ in encoder:
                    pass
        assert len(failures) == 1
        async with pool.encoder(format, NATIVE) as encoder:
            assert await run_encoder(encoder, sine(NATIVE, 0.5), 3_000)


async def test_a_writer_that_waits_for_room_is_woken_by_the_end_of_the_child(
    pool: EncoderPool,
) -> None:
    (pid,) = pool.idle_pids
    with anyio.fail_after(20):
        async with pool.encoder("flac", NATIVE) as encoder:
            os.kill(pid, signal.SIGSTOP)
            async with anyio.create_task_group() as group:

                async def write() -> None:
                    with pytest.raises(EncoderCrashed):
                        await encoder.write(os.urandom(PIPES_FULL_BYTES))

                group.start_soon(write)
                await anyio.wait_all_tasks_blocked()
                os.kill(pid, signal.SIGKILL)


async def test_a_child_that_dies_idle_is_replaced_and_nobody_hears_of_it(
    pool: EncoderPool, sine: Sine, run_encoder: RunEncoder
) -> None:
    (pid,) = pool.idle_pids
    with anyio.fail_after(20):
        os.kill(pid, signal.SIGKILL)
        await until(lambda: bool(pool.idle_pids) and pid not in pool.idle_pids)
        async with pool.encoder("opus", NATIVE) as encoder:
            assert await run_encoder(encoder, sine(NATIVE, 0.1), 3_000)


async def test_a_death_that_nobody_has_seen_yet_costs_the_next_response_nothing(
    pool: EncoderPool, sine: Sine, run_encoder: RunEncoder
) -> None:
    (pid,) = pool.idle_pids
    with anyio.fail_after(20):
        os.kill(pid, signal.SIGKILL)  # and no await before the encoder is asked for
        async with pool.encoder("opus", NATIVE) as encoder:
            assert await run_encoder(encoder, sine(NATIVE, 0.1), 3_000)


async def test_a_request_cancelled_while_its_child_starts_leaves_a_warm_one(
    pool: EncoderPool,
) -> None:
    with anyio.fail_after(20):
        async with pool.encoder("mp3", NATIVE):
            with anyio.move_on_after(0.005) as second:
                async with pool.encoder("mp3", NATIVE):
                    pass
            assert second.cancelled_caught
            await until(lambda: len(pool.idle_pids) == 1)


async def test_signals_to_the_group_leave_a_response_whole(pool: EncoderPool, sine: Sine) -> None:
    (pid,) = pool.idle_pids
    with anyio.fail_after(20):
        async with pool.encoder("flac", NATIVE) as encoder:
            os.kill(pid, signal.SIGTERM)
            os.kill(pid, signal.SIGINT)
            await encoder.write(sine(NATIVE, 0.1))
            await encoder.finish()
            assert [piece async for piece in encoder]


async def test_a_child_is_in_the_process_group_of_its_worker(pool: EncoderPool) -> None:
    assert os.getpgid(pool.idle_pids[0]) == os.getpgrp()


@pytest.mark.parametrize("format", ["aac", "", "MP3"])
async def test_an_unknown_format_is_unsupported(format: str, pool: EncoderPool) -> None:
    with pytest.raises(Unsupported):
        async with pool.encoder(format, NATIVE):
            pass


@pytest.mark.contract("d.formats.codec-missing")
async def test_a_missing_codec_is_unsupported_with_its_reason(pool: EncoderPool) -> None:
    pool.missing["mp3"] = "no MP3 encoder: a test took it"
    assert pool.formats == ("wav", "opus", "flac", "pcm")
    with pytest.raises(Unsupported, match="a test took it"):
        async with pool.encoder("mp3", NATIVE):
            pass


async def test_the_error_of_the_body_comes_out_as_it_is() -> None:
    with pytest.raises(KeyError):
        async with EncoderPool():
            raise KeyError("of the body")


CHILD = ["-m", "rhapsode_worker.encoding.child", "24000"]


def test_a_child_ends_by_itself_at_the_end_of_its_input() -> None:
    result = subprocess.run(
        [sys.executable, *CHILD], input=b"", capture_output=True, timeout=20, check=False
    )
    assert result.returncode == 0
    assert result.stdout == pack(Kind.READY, b'{"missing": {}}')
    assert result.stderr == b""


def test_a_child_that_is_told_nonsense_says_so_and_ends() -> None:
    result = subprocess.run(
        [sys.executable, *CHILD],
        input=pack(Kind.PCM, b"\0\0"),
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert result.returncode == 1
    assert b"PCM where a START was due" in result.stdout


def test_what_a_library_prints_stays_out_of_the_messages() -> None:
    script = (
        "from rhapsode_worker.encoding import child\n"
        "child.missing_formats = lambda _: print('noise', flush=True) or {}\n"
        "child.main()"
    )
    command = [sys.executable, "-c", script, "24000"]
    result = subprocess.run(command, input=b"", capture_output=True, timeout=20, check=True)
    assert result.stdout == pack(Kind.READY, b'{"missing": {}}')
    assert result.stderr == b"noise\n"


def test_a_child_loads_neither_numpy_nor_what_the_worker_needs() -> None:
    command = [sys.executable, "-X", "importtime", *CHILD]
    result = subprocess.run(command, input=b"", capture_output=True, timeout=20, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in result.stderr.decode().splitlines()}
    assert {"_soundfile", "lameenc"} <= loaded
    assert not {"numpy", "soundfile", "anyio", "pydantic", "starlette"} & loaded
