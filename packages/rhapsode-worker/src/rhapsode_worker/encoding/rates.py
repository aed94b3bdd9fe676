"""Which rates and bitrates the codecs are run at.

Speech quality comes first: every choice here is past the point where listeners tell speech from
its original, and none costs enough to matter beside a model.
"""

from typing import Final

_OPUS_RATES_HZ: Final = (8_000, 12_000, 16_000, 24_000, 48_000)
_MP3_RATES_HZ: Final = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)


def codec_rate_hz(format: str, sample_rate_hz: int) -> int:
    """Returns the rate at which `format` holds audio of `sample_rate_hz`.

    The same one wherever the codec takes it, else the next above, so that nothing is lost below
    48 kHz. FLAC takes every rate there is.
    """
    match format:
        case "opus":
            rates = _OPUS_RATES_HZ
        case "mp3":
            rates = _MP3_RATES_HZ
        case _:
            return sample_rate_hz
    return next((rate for rate in rates if rate >= sample_rate_hz), rates[-1])


def mp3_kbps(sample_rate_hz: int, channels: int) -> int:
    """Returns the constant bitrate for audio of `sample_rate_hz`, one of MP3's rates.

    Constant, because a stream cannot carry the frame count that a player needs to tell the
    length of a variable one: what ffmpeg and browsers then guess is off by a tenth. The tables
    of MPEG-1, MPEG-2 and MPEG-2.5 differ; 2.5 ends at 64.
    """
    if sample_rate_hz < 16_000:
        return 64
    if sample_rate_hz < 32_000:
        return 96 if channels == 1 else 160
    return 128 if channels == 1 else 192
