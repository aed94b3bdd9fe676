"""What the supervision of workers takes its time over."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Waits that no operator has a reason to change; a test has one."""

    probe_seconds: float = 5.0
    """What a worker that is suspected to hang may take to say that it lives."""

    pauses_seconds: tuple[float, ...] = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
    """Before the first restart in a row, the second, and so on; the last one for all after it."""

    connect_seconds: float = 2.0
    """What a worker on another machine may take from the first byte to its capabilities, or to
    hear that it should end; a request that finds the link down waits no longer."""

    watch_seconds: float = 5.0
    """Between two looks at the health of such a worker, and what each may take."""

    return_seconds: float = 0.2
    """Between two looks at whether such a worker, told to end, is gone or back."""
