"""A WAV file made of a recording, as a reference to clone from."""

import struct

from rhapsode_conform.sound import Sound


def wave_file(sound: Sound, seconds: float, *, is_backwards: bool = False) -> bytes:
    """Returns `sound` as a WAV file of that length, said again and again where it is shorter.

    Args:
        sound: What is to be heard in it; not empty.
        seconds: How long the file sounds.
        is_backwards: Whether its frames stand the other way round, for a file that differs.
    """
    frame = 2 * sound.channels
    size = round(seconds * sound.rate_hz) * frame
    pcm = (sound.pcm * (size // max(1, len(sound.pcm)) + 1))[:size]
    if is_backwards:
        pcm = b"".join(pcm[at : at + frame] for at in range(len(pcm) - frame, -1, -frame))
    rate = sound.rate_hz
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, sound.channels, rate, rate * frame, frame, 16)
    head = struct.pack("<4sI4s", b"RIFF", 36 + size, b"WAVE")
    return head + form + struct.pack("<4sI", b"data", size) + pcm
