"""A codec behind a resampler, for rates that it does not take. Child only."""

import numpy as np
import soxr  # pyright: ignore[reportMissingTypeStubs]  # has hints, but no marker

from rhapsode_worker.encoding.codec import Codec


class Resampled:
    """Gives `codec` audio at its own rate."""

    def __init__(self, codec: Codec, from_hz: int, to_hz: int, channels: int) -> None:
        self._codec = codec
        self._channels = channels
        self._resampler = soxr.ResampleStream(from_hz, to_hz, channels, dtype="float32")

    def encode(self, pcm: bytes) -> bytes:
        """As `Codec.encode`; the resampler holds back about 40 ms."""
        resampled = self._resample(pcm)
        return self._codec.encode(resampled) if resampled else b""

    def finish(self) -> bytes:
        """As `Codec.finish`."""
        tail = self._resample(b"", is_last=True)
        encoded = self._codec.encode(tail) if tail else b""
        return encoded + self._codec.finish()

    def _resample(self, pcm: bytes, *, is_last: bool = False) -> bytes:
        # As floats: for integers soxr dithers, and the noise depends on how the audio was cut.
        samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32)
        if self._channels > 1:
            samples = samples.reshape(-1, self._channels)
        resampled = self._resampler.resample_chunk(samples, last=is_last)
        return np.rint(resampled).clip(-32_768, 32_767).astype("<i2").tobytes()
