"""What is heard of one process, from its spawn to its end."""

import anyio

from rhapsode.workers.handshake import looks_like_handshake
from rhapsode.workers.journal import Journal
from rhapsode.workers.process import Hearers


class Life:
    """Notes of one process: its handshake, its exit, its log."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.handshake: bytes | None = None
        """The line, as it came; None until there is one."""
        self.status: int | None = None
        """Exit status, or the negated number of a signal; None while it lives."""
        self.has_spoken = anyio.Event()
        """Set with the handshake, or with the end that comes instead."""
        self.has_ended = anyio.Event()

    @property
    def hearers(self) -> Hearers:
        return Hearers(stdout=self._hear_stdout, stderr=self.journal.write, exit=self._hear_exit)

    def _hear_stdout(self, line: bytes) -> None:
        if self.handshake is None and looks_like_handshake(line):
            self.handshake = line
            self.has_spoken.set()
        else:
            self.journal.write_stdout(line)

    def _hear_exit(self, status: int) -> None:
        self.status = status
        self.has_spoken.set()
        self.has_ended.set()
