"""What the encoder child asks of a codec."""

from typing import Protocol


class Codec(Protocol):
    """One response's encoder. Whoever made it calls `finish` once, after at least one frame."""

    def encode(self, pcm: bytes) -> bytes:
        """Takes whole frames and returns what is encoded by now, which may be nothing.

        What is returned first holds audio: container headers alone are held back until then.
        Audio that is to be given whole is all held back until `finish`.
        """
        ...

    def finish(self) -> bytes:
        """Returns the rest. The codec is closed."""
        ...
