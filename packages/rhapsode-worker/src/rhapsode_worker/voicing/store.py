"""Created voices on disk, for an adapter that makes voices.

    <voice_dir>/narrator_03.wav                      the reference, and with it the voice
    <voice_dir>/.store/records/narrator_03.wav.<sha256>.json   its label, transcript, …
    <voice_dir>/.store/incoming/                     files that are no voice yet
    <voice_dir>/.store/lock                          held while any of this changes

A create writes the record, then moves the reference to its name: that one move is the create. A
record counts only for the file it was made with, so at every moment, and after a crash at any,
a voice is the old one whole or the new one whole. A file that an operator puts into the folder is
a voice too, with no record.
"""

import fcntl
import hashlib
import logging
import secrets
from collections.abc import Collection, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rhapsode_contract import UnknownVoice, Voice, check_voice_id
from rhapsode_contract.quoting import shown

from rhapsode_worker.voicing.folder import Folder, storing
from rhapsode_worker.voicing.record import Record
from rhapsode_worker.voicing.references import References
from rhapsode_worker.voicing.shelf import Reading, Shelf
from rhapsode_worker.voicing.spec import mint_spec
from rhapsode_worker.voicing.staging import INCOMING, LOCK, STORE, Staged, Staging, sweep_staged

logger = logging.getLogger(__name__)

_RECORDS: Final = "records"


@dataclass(frozen=True)
class StoredVoice:
    """A voice in the folder."""

    id: str

    path: Path
    """Its reference."""

    digest: str
    """SHA-256 of the reference, in hexadecimal."""

    record: Record | None
    """What its create said; None for a file that an operator put there."""

    @property
    def label(self) -> str:
        """What its create called it, else its id."""
        return self.record.label if self.record else self.id

    @property
    def transcript(self) -> str | None:
        """The words spoken in the reference, where its create gave them."""
        return self.record.transcript if self.record else None

    def spec(self, *parts: str | None) -> str:
        """Returns its spec.

        Args:
            parts: What else its rendering depends on: versions, the variant.
        """
        record = self.record
        own = (record.token, record.transcript) if record else (None, None)
        return mint_spec(self.id, self.digest, *own, *parts)


class VoiceStore:
    """The voices of one folder. Every method blocks, and may be called from any thread."""

    def __init__(self, voice_dir: Path, types: Collection[str], *versions: str | None) -> None:
        """Args:
        voice_dir: The engine's voice folder, made when the first voice is.
        types: File types that are references, as the engine lists them in its cloning formats.
        versions: Of the adapter, and of the library or model inside; every spec depends on them.
        """
        self._voice_dir = voice_dir
        self._known = References(types)
        self._types = frozenset(types)
        self._versions = versions
        self._is_swept = False
        self.staging = Staging(voice_dir)
        """Where a reference is written before it is given to `create`."""

    def voices(self) -> list[StoredVoice]:
        """Returns every voice there is, by id.

        Raises:
            Internal: The folder cannot be read.
        """
        with storing("the voices cannot be listed"), self._reading() as reading:
            served = self._served(reading)
            self._known.forget_all_but(served.values())
            read = (self._read(reading, *voice) for voice in sorted(served.items()))
            return [voice for voice in read if voice is not None]

    def get(self, voice_id: str) -> StoredVoice:
        """Returns a voice.

        Raises:
            UnknownVoice: There is none of this id.
            Internal: The folder cannot be read.
        """
        with storing("the voice cannot be read"), self._reading() as reading:
            file = self._served(reading).get(voice_id)
            voice = self._read(reading, voice_id, file) if file else None
        if voice is None:
            raise _unknown(voice_id)
        return voice

    def listed(self, salt: str | None = None) -> list[Voice]:
        """Returns every voice as `GET /voices` lists it.

        Args:
            salt: What else the renderings depend on, such as the variant.
        """
        return [self.as_listed(voice, salt) for voice in self.voices()]

    def as_listed(self, voice: StoredVoice, salt: str | None = None) -> Voice:
        """Returns one voice as `GET /voices` lists it."""
        record = voice.record
        description = record.description if record else f"Cloned from {voice.path.name}"
        return Voice(
            id=voice.id,
            label=voice.label,
            description=description,
            spec=voice.spec(*self._versions, salt),
            tags=record.tags or None if record else None,
        )

    def create(
        self,
        voice_id: str,
        staged: Staged,
        *,
        label: str,
        description: str | None = None,
        tags: tuple[str, ...] = (),
        transcript: str | None = None,
        created_from: str | None = None,
    ) -> StoredVoice:
        """Makes a staged file a voice, in place of the voice of this id where there is one.

        Raises:
            BadRequest: The id is none.
            ValueError: The file's type is not one of the store's.
            Internal: The disk is full, or the like; whatever was there is still there.
        """
        check_voice_id(voice_id, field="id")
        if staged.type not in self._types:
            raise ValueError(f"{staged.type} is not one of {sorted(self._types)}")
        file = f"{voice_id}.{staged.type}"
        with storing("the voice was not stored"):
            staged.sync()
            with staged.path.open("rb") as contents:
                digest = hashlib.file_digest(contents, "sha256").hexdigest()
            with self._changing() as shelf:
                record = Record(
                    label=label,
                    description=description,
                    tags=tags,
                    transcript=transcript,
                    created_from=created_from,
                    token=secrets.token_hex(8),
                    supersedes=tuple(name for name in shelf.files_of(voice_id) if name != file),
                )
                shelf.put(staged.path.name, file, digest, record)
                self._settle(shelf, voice_id, file, digest, record)
        return StoredVoice(voice_id, self._voice_dir / file, digest, record)

    def delete(self, voice_id: str) -> None:
        """Removes a voice, whoever put it there.

        Raises:
            UnknownVoice: There is none of this id.
            Internal: The folder cannot be written.
        """
        with storing("the voice was not deleted"), self._changing() as shelf:
            files = shelf.files_of(voice_id)
            if not files:
                raise _unknown(voice_id)
            # The one that is served goes last, so that no other takes its place meanwhile.
            shelf.remove(files[::-1])

    def sweep(self) -> None:
        """Removes what a process that died left, and ends the replacing it had begun.

        The first change does it too; until then a replacing that was begun reads as it should.

        Raises:
            Internal: The folder cannot be written.
        """
        with storing("the voice folder cannot be tidied"), self._changing():
            pass

    def _settle(self, shelf: Shelf, voice_id: str, file: str, digest: str, record: Record) -> None:
        try:
            shelf.settle(voice_id, file, digest, record)
        except OSError:
            # The voice is made; what it replaced is removed before the next change.
            logger.exception("what the voice %s replaces is still there", voice_id)
            self._is_swept = False

    def _served(self, reading: Reading | None) -> dict[str, str]:
        return self._known.served(reading.references.names()) if reading else {}

    def _read(self, reading: Reading | None, voice_id: str, file: str) -> StoredVoice | None:
        read = reading.read(file) if reading else None
        return StoredVoice(voice_id, self._voice_dir / file, *read) if read else None

    @contextmanager
    def _reading(self) -> Generator[Reading | None]:
        """Opens what is there; None where nothing is. Makes and changes nothing."""
        with ExitStack() as held:
            try:
                references = held.enter_context(Folder.open(self._voice_dir))
            except FileNotFoundError:
                yield None
                return
            try:
                store = held.enter_context(references.enter(STORE))
                lock = held.enter_context(store.open_lock(LOCK, is_made=False))
                records = held.enter_context(store.enter(_RECORDS))
            except FileNotFoundError:
                yield Reading(references, None, self._known)
                return
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield Reading(references, records, self._known)

    @contextmanager
    def _changing(self) -> Generator[Shelf]:
        """Opens the store for one thread of one process, swept."""
        with (
            Folder.open(self._voice_dir, is_made=True) as references,
            references.enter(STORE, is_made=True) as store,
            store.enter(INCOMING, is_made=True) as incoming,
            store.enter(_RECORDS, is_made=True) as records,
            store.open_lock(LOCK, is_made=True) as lock,
        ):
            fcntl.flock(lock, fcntl.LOCK_EX)
            shelf = Shelf(references, records, incoming, self._known)
            if not self._is_swept:
                sweep_staged(incoming)
                shelf.sweep()
                self._is_swept = True
            yield shelf


def _unknown(voice_id: str) -> UnknownVoice:
    return UnknownVoice(f"id: there is no {shown(voice_id)}", field="id")
