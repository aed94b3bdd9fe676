"""WAV as this protocol has it: one header of 44 bytes or more, then 16-bit samples to the end."""

import struct
from dataclasses import dataclass
from typing import Final

from rhapsode_conform.containers.container import Container, check
from rhapsode_conform.sound import Sound

UNKNOWN: Final = 0xFFFFFFFF
"""The size in the header of a stream whose length is not known yet."""

_PCM: Final = 1


@dataclass(frozen=True)
class Wav(Container):
    """A WAV file, its sizes as written and as they are."""

    sound: Sound

    riff_size: int
    """As the header says it."""

    data_size: int
    """As the header says it."""

    body_size: int
    """Bytes of the whole file."""

    @property
    def is_exact(self) -> bool:
        """Whether both sizes are those of the file, with nothing after the samples."""
        return self.riff_size == self.body_size - 8 and self.data_size == len(self.sound.pcm)

    @property
    def is_open_ended(self) -> bool:
        """Whether both sizes say that they are not known."""
        return self.riff_size == self.data_size == UNKNOWN


def read_wav(body: bytes) -> Wav:
    """Reads a WAV file of 16-bit samples; its samples are all that follows the header.

    Raises:
        NotAudio: It is none.
    """
    check(
        body[:4] == b"RIFF" and body[8:12] == b"WAVE", f"a WAV begins RIFF….WAVE, not {body[:12]!r}"
    )
    rate_hz = channels = 0
    at = 12
    while True:
        check(at + 8 <= len(body), "a WAV without a data chunk")
        kind, size = struct.unpack_from("<4sI", body, at)
        at += 8
        if kind == b"data":
            break
        if kind == b"fmt ":
            check(size >= 16 and at + 16 <= len(body), "a WAV whose fmt chunk is too short")
            code, channels, rate_hz, _, _, bits = struct.unpack_from("<HHIIHH", body, at)
            check(
                (code, bits) == (_PCM, 16), f"a WAV of code {code} with {bits} bits, not 16-bit PCM"
            )
        at += size + size % 2
    check(rate_hz > 0 and channels > 0, "a WAV that says no rate or no channels")
    sound = Sound(body[at:], rate_hz, channels)
    riff_size = struct.unpack_from("<I", body, 4)[0]
    return Wav(sound.duration_ms, sound, riff_size, size, len(body))
