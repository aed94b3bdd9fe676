"""The samples in a body of whatever format."""

from io import BytesIO
from typing import Any, Final, cast

from rhapsode_conform.containers import NotAudio
from rhapsode_conform.sound import Sound

_FLAC_RATE: Final = slice(18, 21)
"""Where a FLAC says its sample rate, in the upper 20 bits."""
_FLAC_LENGTH: Final = slice(21, 26)
"""Where it says how many samples there are, in the lower 36 bits; 0 where it was streamed."""
_FLAC_LENGTH_BITS: Final = 36


def decoded(body: bytes, duration_ms: float) -> Sound:
    """Decodes Ogg Opus, MP3, FLAC or WAV.

    Args:
        body: A container that was read to its end.
        duration_ms: How long it sounds, as its frames say.

    Raises:
        NotAudio: It cannot be decoded.
    """
    # Only here: it brings NumPy, and takes longer to import than all else of this tool.
    import soundfile  # pyright: ignore[reportMissingTypeStubs] - it ships none

    if body[:4] == b"fLaC":
        body = _with_length(body, duration_ms)
    try:
        with soundfile.SoundFile(BytesIO(body)) as file:
            samples = cast("Any", file).read(dtype="int16", always_2d=True)
            return Sound(samples.astype("<i2").tobytes(), file.samplerate, file.channels)
    except soundfile.LibsndfileError as error:
        raise NotAudio(f"it cannot be decoded: {error}") from None


def _with_length(flac: bytes, duration_ms: float) -> bytes:
    """Returns a FLAC that says its length, without which libsndfile (1.2.2) does not read it."""
    rate_hz = int.from_bytes(flac[_FLAC_RATE], "big") >> 4
    fields = int.from_bytes(flac[_FLAC_LENGTH], "big")
    if fields & (1 << _FLAC_LENGTH_BITS) - 1:
        return flac
    fields |= round(duration_ms * rate_hz / 1000)
    return flac[: _FLAC_LENGTH.start] + fields.to_bytes(5, "big") + flac[_FLAC_LENGTH.stop :]
