"""The encoder child: a process that turns PCM into mp3, opus and flac, one response at a time.

Run as `python -m rhapsode_worker.encoding.child RATE_HZ`, with the native rate to expect, by
`process.py`; what is said is in `framing.py`. A process of its own, because the codecs are LGPL
libraries that the licence of a worker must not depend on, because an encoder must not hold the
interpreter lock of a model, and because a codec's crash must not cost a model.
"""

import importlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import BinaryIO, Final, NamedTuple

from rhapsode_worker.encoding.codec import Codec
from rhapsode_worker.encoding.framing import HEAD_BYTES, Kind, pack, pieces, unpack_head
from rhapsode_worker.encoding.rates import codec_rate_hz

_STDIN: Final = 0
_STDOUT: Final = 1
_STDERR: Final = 2

_RUNS_PER_SECOND: Final = 10
"""PCM is encoded in tenths of a second: the first is on its way before a long piece is done."""


class Start(NamedTuple):
    """What a response is to be; a tuple, as dataclasses take a sixth of a child's start."""

    format: str
    sample_rate: int
    """Hz."""
    channels: int
    buffered: bool
    """Whether it is given whole, with exact headers, or as it is made."""


def main() -> int:
    """Serves until end-of-file; returns the exit status."""
    # The signals of a terminal or of a drain go to the whole group, but a worker that drains
    # still needs its encoders. The end of the worker is the end of the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # numpy comes with a pool of threads that resampling has no use for.
    os.putenv("OPENBLAS_NUM_THREADS", "1")
    source = os.fdopen(_STDIN, "rb")
    sink = os.fdopen(os.dup(_STDOUT), "wb", buffering=0)
    # What a codec's library prints must not end up between two messages.
    os.dup2(_STDERR, _STDOUT)

    expected_rate_hz = int(sys.argv[1])
    try:
        _say(sink, Kind.READY, json.dumps({"missing": missing_formats(expected_rate_hz)}).encode())
        _warm_up(expected_rate_hz)
        messages = read_messages(source)
        for kind, payload in messages:
            if kind is not Kind.START:
                raise RuntimeError(f"{kind.name} where a START was due")
            _respond(Start(**json.loads(payload)), messages, sink)
    except BrokenPipeError:
        return 0  # the worker is gone, and with it whoever could be told
    except Exception as error:
        # The top of the process: whatever it is, the worker is told in words and replaces us.
        _say(sink, Kind.ERROR, f"{type(error).__name__}: {error}".encode()[:1000])
        return 1
    return 0


def missing_formats(expected_rate_hz: int) -> dict[str, str]:
    """Tries every codec; returns why those that do not work do not."""
    missing: dict[str, str] = {}
    try:
        importlib.import_module("rhapsode_worker.encoding.mp3")
    except (ImportError, OSError) as error:
        missing["mp3"] = f"no MP3 encoder: {error}"
    try:
        from rhapsode_worker.encoding.sndfile import has
    except (ImportError, OSError) as error:
        missing |= {format: f"no {format} encoder: {error}" for format in ("opus", "flac")}
    else:
        missing |= {
            format: f"this libsndfile cannot write {format}"
            for format in ("opus", "flac")
            if not has(format)
        }
    if find_spec("soxr") is None:
        for format in _resampled_formats(expected_rate_hz):
            missing.setdefault(format, f"soxr, to resample {expected_rate_hz} Hz, is missing")
    return missing


def open_codec(start: Start) -> Codec:
    """Returns the encoder of one response."""
    rate_hz = codec_rate_hz(start.format, start.sample_rate)
    if start.format == "mp3":
        from rhapsode_worker.encoding.mp3 import Mp3Codec

        codec: Codec = Mp3Codec(rate_hz, start.channels, is_buffered=start.buffered)
    else:
        from rhapsode_worker.encoding.sndfile import SndfileCodec

        codec = SndfileCodec(start.format, rate_hz, start.channels, is_buffered=start.buffered)
    if rate_hz == start.sample_rate:
        return codec

    from rhapsode_worker.encoding.resample import Resampled

    return Resampled(codec, start.sample_rate, rate_hz, start.channels)


def read_messages(source: BinaryIO) -> Iterator[tuple[Kind, bytes]]:
    """Gives messages until end-of-file; one cut short by it is dropped."""
    while len(head := source.read(HEAD_BYTES)) == HEAD_BYTES:
        kind, length = unpack_head(head)
        payload = source.read(length)
        if len(payload) == length:
            yield kind, payload


def _respond(start: Start, messages: Iterator[tuple[Kind, bytes]], sink: BinaryIO) -> None:
    codec = open_codec(start)
    _say(sink, Kind.STARTED)
    has_audio = False
    run_bytes = 2 * start.channels * max(start.sample_rate // _RUNS_PER_SECOND, 1)
    for kind, payload in messages:
        match kind:
            case Kind.PCM:
                has_audio = True
                for run in pieces(payload, run_bytes):
                    _give(sink, codec.encode(bytes(run)))
            case Kind.FINISH:
                if has_audio:
                    _give(sink, codec.finish())
                _say(sink, Kind.END)
                return
            case _:
                raise RuntimeError(f"{kind.name} in the middle of a response")


def _give(sink: BinaryIO, encoded: bytes) -> None:
    for piece in pieces(encoded):
        _say(sink, Kind.DATA, piece)


def _say(sink: BinaryIO, kind: Kind, payload: bytes | memoryview = b"") -> None:
    message = memoryview(pack(kind, payload))
    while message:
        message = message[sink.write(message) :]


def _resampled_formats(rate_hz: int) -> list[str]:
    return [format for format in ("mp3", "opus") if codec_rate_hz(format, rate_hz) != rate_hz]


def _warm_up(expected_rate_hz: int) -> None:
    """Imports numpy and the resampler before the first response needs them, if any will."""
    if _resampled_formats(expected_rate_hz) and find_spec("soxr") is not None:
        importlib.import_module("rhapsode_worker.encoding.resample")


if __name__ == "__main__":
    sys.exit(main())
