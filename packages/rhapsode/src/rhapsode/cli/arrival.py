"""What can be said of audio while it arrives: how much, how long, how soon."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from rich.console import Console

_WAV_HEADER_BYTES: Final = 44
_SAMPLE_BYTES: Final = 2
_KILOBYTE: Final = 1000


class Arrival:
    """Counts one answer's audio. The caller tells the time, in seconds of any one clock."""

    def __init__(self, content_type: str, asked_at: float, duration_seconds: float | None) -> None:
        self._content_type = content_type
        self._asked_at = asked_at
        self._duration_seconds = duration_seconds
        self._head = b""
        self.byte_count = 0
        self.first_audio_seconds: float | None = None
        """From asking to the first byte of a body."""
        self.took_seconds = 0.0
        """From asking to the latest byte."""

    def add(self, piece: bytes, now: float) -> None:
        """Counts a piece that has just arrived."""
        if len(self._head) < _WAV_HEADER_BYTES:
            self._head += piece[: _WAV_HEADER_BYTES - len(self._head)]
        self.byte_count += len(piece)
        self.took_seconds = now - self._asked_at
        if self.first_audio_seconds is None:
            self.first_audio_seconds = self.took_seconds

    @property
    def audio_seconds(self) -> float | None:
        """How long the audio so far lasts, or None where its format does not show that."""
        if self._duration_seconds is not None:
            return self._duration_seconds
        if rate := _bytes_a_second(self._content_type, self._head):
            is_wav = self._head[:4] == b"RIFF"
            return max(0, self.byte_count - (_WAV_HEADER_BYTES if is_wav else 0)) / rate
        return None

    def __str__(self) -> str:
        """Returns one line, such as "2.4 s of audio, 115 kB, first after 0.12 s, all in 0.2 s"."""
        seconds = self.audio_seconds
        parts = [] if seconds is None else [f"{seconds:.1f} s of audio"]
        parts.append(f"{self.byte_count / _KILOBYTE:.0f} kB")
        if self.first_audio_seconds is not None:
            parts.append(f"first after {self.first_audio_seconds:.2f} s")
            parts.append(f"all in {self.took_seconds:.2f} s")
        return ", ".join(parts)


def shown(
    pieces: Iterable[bytes],
    arrival: Arrival,
    console: Console,
    clock: Callable[[], float],
) -> Iterator[bytes]:
    """Yields the pieces, counting them, with a line that moves where a person looks on."""
    with console.status("waiting for the first audio") as status:
        for piece in pieces:
            arrival.add(piece, clock())
            status.update(str(arrival))
            yield piece


def _bytes_a_second(content_type: str, head: bytes) -> int | None:
    """Returns the rate of uncompressed audio, from its header or its type."""
    if head[:4] == b"RIFF" and len(head) == _WAV_HEADER_BYTES:
        return int.from_bytes(head[28:32], "little")
    raw = re.fullmatch(r"audio/L16; *rate=(\d+); *channels=(\d+)", content_type)
    return int(raw[1]) * int(raw[2]) * _SAMPLE_BYTES if raw else None
