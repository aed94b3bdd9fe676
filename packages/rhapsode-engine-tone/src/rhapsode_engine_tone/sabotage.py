"""The tone engine, doing what `misbehaviour` says."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import count
from typing import Final, NoReturn

from rhapsode_worker.requests import DialogueRequest, SpeakRequest

from rhapsode_engine_tone.engine import ToneEngine
from rhapsode_engine_tone.misbehaviour import Flag, Misbehaviour

_MID_STREAM: Final = (
    Flag.RAISE_MID_STREAM,
    Flag.HANG_MID_STREAM,
    Flag.DIE_MID_STREAM,
    Flag.SEGV_MID_STREAM,
    Flag.EXIT_MID_STREAM,
)


def sabotage_start(flags: Misbehaviour) -> None:
    """Does what is to happen before the handshake. Called on the main thread.

    Raises:
        SystemExit: The process is to leave.
    """
    if Flag.IGNORE_SIGTERM in flags:
        # Blocked and not handled: whoever serves sets a handler later.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    if Flag.PRINT in flags:
        _print("at the start")
    if Flag.EXIT_AT_START in flags:
        sys.stderr.write("tone: leaving at the start, as asked\n")
        sys.exit(int(flags[Flag.EXIT_AT_START]))
    if Flag.SLOW_START in flags:
        _pass_time(flags[Flag.SLOW_START])
    if Flag.MUTE_START in flags:
        _hang()


class SabotagedTone(ToneEngine):
    """Plays tones, but for what its flags say."""

    def __init__(self, flags: Misbehaviour) -> None:
        self._flags = flags
        self._loads = 0

    def load(self, variant: str) -> None:
        """Loads, or fails to."""
        self._loads += 1
        if Flag.PRINT in self._flags:
            _print("in load")
        if Flag.SLOW_LOAD in self._flags:
            _pass_time(self._flags[Flag.SLOW_LOAD])
        if Flag.HANG_IN_LOAD in self._flags:
            _hang()
        if Flag.OOM_IN_LOAD in self._flags:
            raise MemoryError("tone: no memory for the model, as asked")
        if Flag.MISSING_WEIGHTS in self._flags:
            raise FileNotFoundError("tone: no weights, as asked")
        is_first = Flag.FAIL_LOAD_ONCE in self._flags and self._loads == 1
        if Flag.FAIL_LOAD in self._flags or is_first:
            raise RuntimeError("tone: the load failed, as asked")
        super().load(variant)

    def unload(self) -> None:
        """Unloads, or does not."""
        if Flag.HANG_IN_UNLOAD in self._flags:
            _hang()
        super().unload()

    def speak(self, req: SpeakRequest) -> Generator[bytes, None, None]:
        """Speaks, or does not, or not to the end."""
        return self._spoiled(super().speak(req), req.variant)

    def dialogue(self, req: DialogueRequest) -> Generator[bytes, None, None]:
        """The same, for a conversation."""
        return self._spoiled(super().dialogue(req), req.variant)

    def _spoiled(
        self, speech: Generator[bytes, None, None], variant: str
    ) -> Generator[bytes, None, None]:
        self._sabotage_before_audio()
        if Flag.NO_AUDIO in self._flags:
            return
        with closing(speech) as pieces:
            spoiled: Iterator[bytes] = pieces
            if Flag.SHORT_BODY in self._flags:
                spoiled = _cut(spoiled, int(self._flags[Flag.SHORT_BODY]))
            rate = self.variants()[variant].native_format or self.native_format
            if Flag.PACE in self._flags:
                spoiled = _paced(spoiled, rate.bytes_per_second, self._flags[Flag.PACE])
            if Flag.RAGGED in self._flags:
                spoiled = _ragged(spoiled)
            given = 0
            for piece in spoiled:
                yield piece
                given += len(piece)
                self._sabotage_mid_stream(given / rate.bytes_per_second)

    def _sabotage_before_audio(self) -> None:
        if Flag.PRINT in self._flags:
            _print("in speak")
        if Flag.HANG_IN_SPEAK in self._flags:
            _hang()
        if Flag.HOLD_THE_INTERPRETER in self._flags:
            _hold_the_interpreter(self._flags[Flag.HOLD_THE_INTERPRETER])
        if Flag.OOM_IN_SPEAK in self._flags:
            raise MemoryError("tone: no memory to speak, as asked")
        if Flag.RAISE_BEFORE_AUDIO in self._flags:
            raise RuntimeError("tone: speaking failed, as asked")

    def _sabotage_mid_stream(self, seconds: float) -> None:
        """Called after each piece with the seconds of audio given so far."""
        for flag in _MID_STREAM:
            if flag in self._flags and seconds >= self._flags[flag]:
                _break_off(flag)


def _break_off(flag: Flag) -> NoReturn:
    match flag:
        case Flag.DIE_MID_STREAM:
            os.kill(os.getpid(), signal.SIGKILL)
        case Flag.SEGV_MID_STREAM:
            os.kill(os.getpid(), signal.SIGSEGV)
        case Flag.EXIT_MID_STREAM:
            sys.exit("tone: leaving in the middle, as asked")
        case Flag.RAISE_MID_STREAM:
            raise RuntimeError("tone: speaking failed in the middle, as asked")
        case _:
            pass
    _hang()


def _cut(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        if size <= 0:
            return
        yield piece[:size]
        size -= len(piece)


def _paced(pieces: Iterator[bytes], bytes_per_second: int, factor: float) -> Iterator[bytes]:
    """Gives hundredths of a second, each when it is due, so that a listener who leaves is noticed
    between two of them."""
    begun = time.monotonic()
    step = bytes_per_second // 100 // 4 * 4
    given = 0
    for piece in pieces:
        for at in range(0, len(piece), step):
            part = piece[at : at + step]
            given += len(part)
            due = begun + given / bytes_per_second / factor
            _pass_time(max(0.0, due - time.monotonic()))
            yield part


def _ragged(pieces: Iterator[bytes]) -> Iterator[bytes]:
    sizes = count(1)
    for piece in pieces:
        at = 0
        while at < len(piece):
            size = next(sizes)
            yield piece[at : at + size]
            at += size


def _print(where: str) -> None:
    sys.stdout.write(f"tone: printed {where}\n")
    sys.stdout.flush()
    os.write(1, f"tone: written below Python {where}\n".encode())


def _pass_time(seconds: float) -> None:
    threading.Event().wait(seconds)


def _hang() -> NoReturn:
    while True:
        threading.Event().wait()


def _hold_the_interpreter(seconds: float) -> None:
    # PyDLL, unlike CDLL, keeps Python's lock during the call.
    ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))
