"""The formats a response can have, and what each is called on the wire."""

from typing import Final

from rhapsode_contract import FORMATS, Unsupported

from rhapsode_worker.native_format import NativeFormat

CODEC_FORMATS: Final = ("mp3", "opus", "flac")
"""Those that need the encoder child; the others are made in place and cannot be missing."""

_MEDIA_TYPES: Final = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    # Ogg holds it, but this is the name that clients of speech servers send and accept (§ 6).
    "opus": "audio/opus",
    "flac": "audio/flac",
}


def media_type(format: str, native: NativeFormat) -> str:
    """Returns the `Content-Type` of `format`; that of pcm tells the rate and the channels.

    Raises:
        Unsupported: There is no such format.
    """
    if format == "pcm":
        return f"audio/L16; rate={native.sample_rate}; channels={native.channels}"
    if format not in _MEDIA_TYPES:
        raise Unsupported(
            f"format is {format!r}; it is one of {', '.join(FORMATS)}", field="format"
        )
    return _MEDIA_TYPES[format]
