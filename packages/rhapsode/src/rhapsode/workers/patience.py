"""What the supervision of workers takes its time over."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Waits that no operator has a reason to change; a test has one."""

    probe_seconds: float = 5.0
    """What a worker that is suspected to hang may take to say that it lives."""

    answer_seconds: float = 5.0
    """What a worker may take over a question that needs no model, such as which voices it has; one
    that takes longer is suspected to hang. As much as over its health, since nothing that it loads
    or says may hold either up."""

    create_seconds: float = 60.0
    """What a worker may take over each piece of an upload, and from its end to the new voice; what
    needs a model comes with the first speak."""

    fetch_look_seconds: float = 30.0
    """Between two looks at whether a worker lives that fetches weights, which has no deadline."""

    pauses_seconds: tuple[float, ...] = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
    """Before the first restart in a row, the second, and so on; the last one for all after it."""

    connect_seconds: float = 2.0
    """What a worker on another machine may take from the first byte to its capabilities, or to
    hear that it should end; a request that finds the link down waits no longer."""

    watch_seconds: float = 5.0
    """Between two looks at the health of such a worker, and what each may take."""

    return_seconds: float = 0.2
    """Between two looks at whether such a worker, told to end, is gone or back."""
