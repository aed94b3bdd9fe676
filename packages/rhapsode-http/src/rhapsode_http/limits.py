"""What a connection may cost before it is refused or dropped."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on one server's connections. Sizes are bytes, times are seconds."""

    head_bytes: int = 64 * 1024
    """A request head, the trailers after a body, or the framing between two body bytes."""
    head_seconds: float = 10.0
    """From the opening of a connection, or the first byte of a later head, to the head's end."""
    body_silence_seconds: float = 30.0
    """Between two pieces of a request body, while we are reading it."""
    write_stall_seconds: float = 120.0
    """Without the client taking a byte of what is waiting to be written."""
    ahead_bytes: int = 64 * 1024 * 1024
    """Waiting to be written on all connections together, before the answers that run ahead of
    their listeners go at their pace; as much as a worker lets wait."""
    keep_alive_seconds: float = 75.0
    """An idle connection. Longer than the 30 s a client of ours keeps one, so that the side
    that sends requests is the side that closes."""
    linger_bytes: int = 64 * 1024 * 1024
    """Discarded after a refusal, so that a client that is still sending hears it."""
    linger_seconds: float = 10.0
    """Spent discarding, once the refusal has been written."""
    refusal_seconds: float = 1.0
    """What those who wait for an answer may take to hear that there is none, at a close."""
    drain_grace_seconds: float = 5.0
    """What GET requests still open (event streams above all) get when the last work is done."""
