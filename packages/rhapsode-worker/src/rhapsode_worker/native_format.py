"""The PCM that an engine gives."""

from dataclasses import dataclass
from typing import Final

ENCODING: Final = "pcm_s16le"
MIN_SAMPLE_RATE_HZ: Final = 4_000
MAX_SAMPLE_RATE_HZ: Final = 192_000
MAX_CHANNELS: Final = 2
_BYTES_PER_SAMPLE: Final = 2


@dataclass(frozen=True)
class NativeFormat:
    """How an engine's samples are laid out; the same for every piece of one utterance.

    Raises:
        ValueError: A field is outside its range.
    """

    encoding: str = ENCODING
    """Signed 16-bit little-endian integers, channels interleaved. There is no other."""
    sample_rate: int = 24_000
    """Frames a second, 4,000 to 192,000."""
    channels: int = 1
    """1 or 2."""

    def __post_init__(self) -> None:
        if self.encoding != ENCODING:
            raise ValueError(f"encoding is {self.encoding!r}; only {ENCODING!r} is known")
        if not MIN_SAMPLE_RATE_HZ <= self.sample_rate <= MAX_SAMPLE_RATE_HZ:
            raise ValueError(
                f"sample_rate is {self.sample_rate}; "
                f"it is {MIN_SAMPLE_RATE_HZ} to {MAX_SAMPLE_RATE_HZ} Hz"
            )
        if not 1 <= self.channels <= MAX_CHANNELS:
            raise ValueError(f"channels is {self.channels}; it is 1 to {MAX_CHANNELS}")

    @property
    def bytes_per_frame(self) -> int:
        """Bytes of one sample of every channel."""
        return _BYTES_PER_SAMPLE * self.channels

    @property
    def bytes_per_second(self) -> int:
        """Bytes of one second of audio."""
        return self.bytes_per_frame * self.sample_rate

    def silence(self, milliseconds: int) -> bytes:
        """Returns PCM that is silent for so long."""
        return bytes(self.sample_rate * milliseconds // 1000 * self.bytes_per_frame)

    def duration_ms(self, n_bytes: int) -> int:
        """How long `n_bytes` of PCM sound, in whole milliseconds; half an ms rounds up."""
        frames = n_bytes // self.bytes_per_frame
        return (frames * 1000 + self.sample_rate // 2) // self.sample_rate
