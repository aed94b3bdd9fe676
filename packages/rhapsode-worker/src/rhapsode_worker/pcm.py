"""Floating-point audio to 16-bit samples, without importing anybody's array library."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, cast

from rhapsode_worker.native_format import NativeFormat

_FULL_SCALE = 32767
_PIECE_SECONDS = 1
"""What comes at once need not be sent in crumbs: each costs the way through two processes."""


def pcm_pieces(samples: object, native: NativeFormat) -> Iterator[bytes]:
    """Yields `samples` in the native format, in pieces of a second.

    Args:
        samples: A numpy array, a torch tensor or a sequence of numbers, values in [-1.0, 1.0]
            (beyond is clipped), shape (n,), (1, n) or (channels, n).
        native: What they become.

    Raises:
        ValueError: The samples are no floating-point numbers, hold NaN, or have not
            `native.channels` channels.
    """
    pcm = pcm_bytes(samples, native.channels)
    step = native.bytes_per_second * _PIECE_SECONDS
    for start in range(0, len(pcm), step):
        yield pcm[start : start + step]


def pcm_bytes(samples: object, channels: int) -> bytes:
    """Returns `samples` as little-endian signed 16-bit, channels interleaved.

    Raises:
        ValueError: As `pcm_pieces`.
    """
    audio: Any = samples
    if hasattr(audio, "detach"):  # a torch tensor, on whatever device, of whatever float type
        if not audio.is_floating_point():
            raise ValueError(f"samples are {audio.dtype}, not floating-point")
        audio = audio.detach().float().cpu().numpy()
    if not hasattr(audio, "astype"):
        _check_channels(1, channels)
        return _from_sequence(cast(Sequence[float], audio))
    if audio.dtype.kind != "f":
        raise ValueError(f"samples are {audio.dtype}, not floating-point")
    if audio.ndim not in {1, 2}:
        raise ValueError(f"samples have the shape {audio.shape}; (n,) or (channels, n) is needed")
    _check_channels(audio.shape[0] if audio.ndim == 2 else 1, channels)
    # In single precision: half of it cannot hold 32767, and full scale would wrap around.
    scaled = audio.T.astype("<f4").clip(-1.0, 1.0) * _FULL_SCALE
    if (scaled != scaled).any():
        raise ValueError("samples hold NaN")
    return cast(bytes, scaled.round().astype("<i2").tobytes())


def _check_channels(given: int, wanted: int) -> None:
    if given != wanted:
        raise ValueError(f"{given} channel(s) of samples, the engine has {wanted}")


def _from_sequence(samples: Sequence[float]) -> bytes:
    values = array("d", samples)
    # Asked first: min() of a number and NaN is the number, and that would be full scale.
    if any(value != value for value in values):
        raise ValueError("samples hold NaN")
    pcm = array("h", (round(max(-1.0, min(1.0, value)) * _FULL_SCALE) for value in values))
    if array("H", [1]).tobytes() != b"\x01\x00":
        pcm.byteswap()
    return pcm.tobytes()
