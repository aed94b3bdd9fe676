"""What every container says of itself."""

from dataclasses import dataclass, field


class NotAudio(ValueError):
    """The bytes are not what they should be; the message says where they stop being it."""


@dataclass(frozen=True)
class Container:
    """A container that could be read to its end."""

    duration_ms: float
    """Of what is in it, the codec's own padding included."""

    frame_ms: float = field(default=0.0, kw_only=True)
    """How long a frame sounds, where a codec pads in whole frames that may be long."""


def check(holds: bool, why: str) -> None:
    """Goes on where `holds`.

    Raises:
        NotAudio: It does not.
    """
    if not holds:
        raise NotAudio(why)
