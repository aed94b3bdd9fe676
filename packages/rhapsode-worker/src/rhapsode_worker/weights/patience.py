"""How long a fetch waits for others before it turns elsewhere."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """The waits of a fetch. A fetch as a whole has no deadline: only silence and crawling do."""

    silence_seconds: float = 30.0
    """Longest wait for a connection, or for the next byte of one."""

    crawl_window_seconds: float = 60.0

    crawl_bytes: int = 256 * 1024
    """Least that a source sends in a window; one that sends less is left for the next source."""

    client_silence_seconds: float = 600.0
    """Longest that `pip` or `npm` may write nothing; they have timeouts and retries of their own,
    which an operator may have set."""

    pauses_seconds: tuple[float, ...] = (1.0, 5.0)
    """Waits before sources that failed for a passing reason are all tried once more."""
