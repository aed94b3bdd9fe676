"""The references in a voice folder: which file is which voice, and what it holds."""

import hashlib
import os
import re
import time
from collections.abc import Callable, Collection, Iterable
from typing import Final

from rhapsode_contract import VOICE_ID_PATTERN

from rhapsode_worker.voicing.folder import Folder

_FILE_NAME: Final = re.compile(rf"(?P<id>{VOICE_ID_PATTERN})\.(?P<type>[A-Za-z0-9]+)")

_SETTLED_NANOSECONDS: Final = 2_000_000_000
"""A file older than this cannot change again within the resolution of its times."""


class References:
    """Files named for the voice they are, `<id>.<type>`, flat in the folder.

    What they hold is hashed once, and again only where a file has changed.
    """

    def __init__(self, types: Collection[str], *, now_ns: Callable[[], int] = time.time_ns) -> None:
        """Args:
        types: The file types that are references, in lower case.
        now_ns: The clock of the files' times, in nanoseconds since 1970.
        """
        self._types = frozenset(types)
        self._now_ns = now_ns
        self._digests: dict[str, tuple[tuple[int, ...], str]] = {}

    def served(self, names: Iterable[str]) -> dict[str, str]:
        """Returns the file of each voice, by id; of several, the first of `names`."""
        served: dict[str, str] = {}
        for name in names:
            if voice_id := self._voice_id(name):
                served.setdefault(voice_id, name)
        return served

    def all_of(self, voice_id: str, names: Iterable[str]) -> list[str]:
        """Returns every file that is this voice, by name."""
        return sorted(name for name in names if self._voice_id(name) == voice_id)

    def digest(self, folder: Folder, name: str) -> str:
        """Returns the SHA-256 of a file in hexadecimal.

        Raises:
            OSError: It cannot be read.
        """
        with folder.open_file(name) as file:
            status = os.fstat(file.fileno())
            seen = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            known = self._digests.get(name)
            if known is not None and known[0] == seen:
                return known[1]
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        # A file written a moment ago may be written again without any of these changing.
        if self._now_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED_NANOSECONDS:
            self._digests[name] = (seen, digest)
        return digest

    def forget_all_but(self, names: Collection[str]) -> None:
        """Lets go of what is known of files that are gone."""
        self._digests = {name: known for name, known in self._digests.items() if name in names}

    def _voice_id(self, name: str) -> str | None:
        found = _FILE_NAME.fullmatch(name)
        return found["id"] if found and found["type"].lower() in self._types else None
