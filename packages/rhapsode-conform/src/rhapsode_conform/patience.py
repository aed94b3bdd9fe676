"""How long a worker is waited for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Bounds in seconds, each far above what a worker that keeps its promises needs."""

    check_seconds: float = 120.0
    """For all that one check does: several requests, loads among them."""

    start_seconds: float = 60.0
    """From a spawn to its handshake, and again from there, or from the first connection to an
    address, until it has said what it is."""

    exit_seconds: float = 30.0
    """From being told to end to the end, with one short utterance in flight."""

    health_seconds: float = 5.0
    """For a health that is asked while the worker speaks."""

    idle_seconds: float = 3.0
    """How long a model that nobody asks for is watched; less where a check may take less."""

    stay_seconds: float = 0.5
    """How long a process that should stay is watched."""
