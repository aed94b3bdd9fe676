"""The folders of a voice store, open and locked, and the steps in which they change.

Each step leaves a store that reads well, so a process may die between any two of them.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from rhapsode_contract import read_shape

from rhapsode_worker.voicing.folder import Folder
from rhapsode_worker.voicing.record import Record, described_by, record_name
from rhapsode_worker.voicing.references import References

logger = logging.getLogger(__name__)

_RECORD_LIMIT_BYTES = 1 << 20


@dataclass(frozen=True)
class Reading:
    """A store as it stands while nothing changes it."""

    references: Folder

    records: Folder | None
    """None where no voice was ever created."""

    known: References

    def read(self, file: str) -> tuple[str, Record | None] | None:
        """Returns a reference's digest and its record; None, and a log line, for an unreadable one.

        A record that cannot be read is as good as none.
        """
        try:
            digest = self.known.digest(self.references, file)
        except OSError as error:
            logger.warning("the voice file %s cannot be read: %s", file, error)
            return None
        if self.records is None:
            return digest, None
        return digest, _read_record(self.records, record_name(file, digest))


@dataclass(frozen=True)
class Shelf:
    """A store that nobody else reads or changes now. Every method raises OSError."""

    references: Folder

    records: Folder

    incoming: Folder

    known: References

    def files_of(self, voice_id: str) -> list[str]:
        """Returns the references of a voice, by name."""
        return self.known.all_of(voice_id, self.references.names())

    def put(self, staged: str, file: str, digest: str, record: Record) -> None:
        """Makes a staged file the reference `file`, with its record.

        Where this raises, everything is as it was.
        """
        is_there = file in self.references.names() and self._holds(file, digest)
        self._write_record(file, digest, record)
        if is_there:
            return  # the record alone has changed, and has done so whole
        try:
            self.incoming.move(staged, self.references, file)
        except OSError:
            self.records.remove(record_name(file, digest))
            raise
        self.references.sync()

    def settle(self, voice_id: str, file: str, digest: str, record: Record) -> None:
        """Ends what `put` began: what the voice was before goes."""
        superseded = self.known.all_of(voice_id, record.supersedes)
        for name in superseded:
            if name != file:
                self.references.remove(name)
        if superseded:
            self.references.sync()
            # So that a file of such a name which comes later is left alone.
            self._write_record(file, digest, record.model_copy(update={"supersedes": ()}))
        self.remove_records(self.known.all_of(voice_id, [file, *superseded]), but=(file, digest))

    def remove(self, files: list[str]) -> None:
        """Removes references, in this order, and then their records."""
        for name in files:
            self.references.remove(name)
        self.references.sync()
        self.remove_records(files)

    def remove_records(self, files: Iterable[str], *, but: tuple[str, str] | None = None) -> None:
        """Removes the records of references, but for the one of that file and digest."""
        files = frozenset(files)
        for name in self.records.names():
            described = described_by(name)
            if described is not None and described != but and described[0] in files:
                self.records.remove(name)

    def sweep(self) -> None:
        """Ends every replacing that was begun, and removes records that describe nothing."""
        present = frozenset(self.references.names())
        for name in self.records.names():
            described = described_by(name)
            if described is None:
                continue
            file, digest = described
            if file not in present or self._holds(file, digest) is False:
                self.records.remove(name)
            elif (record := _read_record(self.records, name)) and record.supersedes:
                self.settle(file.partition(".")[0], file, digest, record)

    def _holds(self, file: str, digest: str) -> bool | None:
        """Returns whether a reference has this digest, or None where it cannot be read."""
        try:
            return self.known.digest(self.references, file) == digest
        except OSError:
            return None

    def _write_record(self, file: str, digest: str, record: Record) -> None:
        temporary = f"{record.token}.json"
        self.incoming.write_file(temporary, record.to_json())
        try:
            self.incoming.move(temporary, self.records, record_name(file, digest))
        except OSError:
            self.incoming.remove(temporary)
            raise
        self.records.sync()


def _read_record(records: Folder, name: str) -> Record | None:
    try:
        with records.open_file(name) as file:
            return read_shape(Record, file.read(_RECORD_LIMIT_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        logger.warning("the voice record %s cannot be read: %s", name, error)
        return None
