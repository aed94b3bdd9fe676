"""What this core has been told since it was set up, in `rhapsode.db`: engines and settings."""

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final, Self

from rhapsode_contract import Internal

from rhapsode.database_file import FileTaken, claimed, connected, in_transaction, prepare
from rhapsode.settings.contents import DatabaseContents
from rhapsode.settings.folders import Folders
from rhapsode.settings.former import FORMER_NAME, IMPORTED_NAME, read_former
from rhapsode.settings.layers import SettingsRefused

DATABASE_NAME: Final = "rhapsode.db"

BUSY_SECONDS: Final = 2.0
"""How long a write waits for another program that has the file open, a backup say."""


class StateRefused(Exception):
    """The state database can't be used: one line that names its path."""


def database_path(config: Path | None, folders: Folders) -> Path:
    """Returns where the database lies: beside the config file, else in the user's folder."""
    return (config.parent if config is not None else folders.config) / DATABASE_NAME


class StateDatabase:
    """An open database, this process's alone. Its methods block, and may run on any thread.

    A change is one transaction, and on the disk when the method returns. The journal is there
    only while one is written, so that a copy of the file is the database.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Takes over a connection; `open` is the way to one of these."""
        self.path = path
        self.identity = prepare(connection)
        """A UUID that tells this database from every other."""
        self._connection = connection
        self._turn = threading.Lock()

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> Generator[Self]:
        """Opens the database for the length of the block, and makes it where there is none.

        Takes in a `rhapsode.engines.json` that lies beside it, and renames that. Blocks.

        Args:
            path: Where it is, or is to be; its folder is made, too.
            busy_seconds: How long a write waits for another program that has the file locked.

        Raises:
            StateRefused: It can't be read or written, is no database of ours, or another core
                uses it.
        """
        with ExitStack() as stack:
            with _refusals_about(path):
                file = Path(os.path.realpath(path))  # the lock and the journal lie beside it
                stack.enter_context(claimed(file))
                connection = stack.enter_context(closing(connected(file, busy_seconds)))
                database = cls(path, connection)
                database._take_in_former()
            stack.callback(database.close)
            yield database

    def close(self) -> None:
        """Waits for a write that is under way; what is asked later fails."""
        with self._turn:
            self._connection.close()

    def contents(self) -> DatabaseContents:
        """Returns what it holds, as a layer of the settings.

        Raises:
            Internal: It can't be read.
        """
        return DatabaseContents(self.path, self.engines(), self.settings())

    def engines(self) -> dict[str, dict[str, Any]]:
        """Returns the entries of engines as they were recorded, in the order of their ids.

        Raises:
            Internal: It can't be read.
        """
        return self._read("SELECT id, entry FROM engines ORDER BY id")

    def record_engine(self, engine: str, entry: Mapping[str, Any]) -> None:
        """Writes an engine down, in place of what is written of it.

        Args:
            engine: Its id.
            entry: As the config file would spell it, in JSON's own values.

        Raises:
            Internal: It can't be written; nothing has changed.
        """
        self._write(lambda connection: _put_engine(connection, engine, entry))

    def remove_engine(self, engine: str) -> None:
        """Removes what is written of an engine, with the settings that are its own.

        Raises:
            Internal: It can't be written; nothing has changed.
        """
        self._write(lambda connection: _drop_engine(connection, engine))

    def settings(self) -> dict[str, Any]:
        """Returns what has been set, by dotted key.

        Raises:
            Internal: It can't be read.
        """
        return self._read("SELECT key, value FROM settings ORDER BY key")

    def write_settings(self, changes: Mapping[str, Any]) -> None:
        """Sets and clears settings, all of them or none.

        Args:
            changes: JSON's own values by dotted key; None clears.

        Raises:
            Internal: It can't be written; nothing has changed.
        """
        self._write(lambda connection: _put_settings(connection, changes))

    def _read(self, query: str) -> dict[str, Any]:
        with self._turn:
            try:
                rows = self._connection.execute(query).fetchall()
                return {name: json.loads(text) for name, text in rows}
            except (sqlite3.Error, ValueError) as error:
                raise Internal(f"{self.path}: can't be read: {error}") from error

    def _write(self, change: Callable[[sqlite3.Connection], None]) -> None:
        with self._turn:
            try:
                in_transaction(self._connection, change)
            except sqlite3.Error as error:
                raise Internal(f"{self.path}: can't be written: {error}") from error

    def _take_in_former(self) -> None:
        former = self.path.with_name(FORMER_NAME)
        if not former.exists():
            return
        entries = read_former(former)

        def put(connection: sqlite3.Connection) -> None:
            for engine, entry in entries.items():
                _put_engine(connection, engine, entry)

        in_transaction(self._connection, put)
        # A core that dies before this takes the same in once more, and nothing was written since.
        former.rename(former.with_name(IMPORTED_NAME))


def _put_engine(connection: sqlite3.Connection, engine: str, entry: Mapping[str, Any]) -> None:
    text = json.dumps(dict(entry))
    connection.execute("INSERT OR REPLACE INTO engines VALUES (?, ?)", (engine, text))


def _drop_engine(connection: sqlite3.Connection, engine: str) -> None:
    connection.execute("DELETE FROM engines WHERE id = ?", (engine,))
    prefix = f"engines.{engine}."
    # The id of another engine may begin like this; the names of settings have no dot in them.
    keys: list[tuple[str]] = connection.execute("SELECT key FROM settings").fetchall()
    for (key,) in keys:
        if key.startswith(prefix) and "." not in key.removeprefix(prefix):
            connection.execute("DELETE FROM settings WHERE key = ?", (key,))


def _put_settings(connection: sqlite3.Connection, changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        _take_out_of_entry(connection, key)
        if value is None:
            connection.execute("DELETE FROM settings WHERE key = ?", (key,))
        else:
            pair = (key, json.dumps(value))
            connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", pair)


def _take_out_of_entry(connection: sqlite3.Connection, key: str) -> None:
    """Removes a setting of an engine from its entry, which an earlier core may have put it in:
    else it would still be there once the setting is cleared.
    """
    engine, _, name = key.removeprefix("engines.").rpartition(".")
    row = connection.execute("SELECT entry FROM engines WHERE id = ?", (engine,)).fetchone()
    if not key.startswith("engines.") or row is None:
        return
    entry: dict[str, Any] = json.loads(row[0])
    if name in entry:
        del entry[name]
        _put_engine(connection, engine, entry)


@contextmanager
def _refusals_about(path: Path) -> Generator[None]:
    try:
        yield
    except FileTaken:
        raise StateRefused(f"{path}: another core uses this database") from None
    except OSError as error:
        where = error.filename or path
        raise StateRefused(f"{path}: can't be used: {where}: {error.strerror}") from None
    except sqlite3.Error as error:
        raise StateRefused(f"{path}: can't be used: {error}") from None
    except SettingsRefused as refused:
        raise StateRefused(str(refused)) from None
