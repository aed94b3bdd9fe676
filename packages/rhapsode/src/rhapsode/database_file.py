"""The file of the state database: claimed, opened, and its tables made."""

import fcntl
import os
import sqlite3
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast

_APPLICATION: Final = 0x52485044
"""Tells our files from those of other programs: `RHPD`."""

_VERSION: Final = 1
"""Of the tables."""

_TABLES: Final = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE engines (id TEXT PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
)


class FileTaken(Exception):
    """Another process has claimed the file."""


@contextmanager
def claimed(file: Path) -> Generator[None]:
    """Keeps other cores away from the database for the length of the block.

    By a file of its own: whoever locks the database itself keeps backups away too, and where the
    two kinds of lock are one, SQLite.

    Raises:
        FileTaken: Another core has claimed it.
        OSError: Its folder can't be written to.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise FileTaken from None
    except OSError:
        os.close(lock)
        raise
    try:
        yield
    finally:
        os.close(lock)


def connected(file: Path, busy_seconds: float) -> sqlite3.Connection:
    """Opens a database, which is made where there is none.

    Args:
        file: Where it is.
        busy_seconds: How long a statement waits for another program that has it locked.

    Raises:
        OSError: There is no place for it, or it is not ours to keep from others.
        sqlite3.Error: It can't be opened.
    """
    # It holds the token, so nobody else may read it; the journal gets the mode of the file.
    made = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(made).st_mode & 0o077:
            os.fchmod(made, 0o600)
    finally:
        os.close(made)
    return sqlite3.connect(
        file, timeout=busy_seconds, isolation_level=None, check_same_thread=False
    )


def prepare(connection: sqlite3.Connection) -> str:
    """Makes what is missing, writes once, and returns the identity.

    Raises:
        sqlite3.Error: It is damaged, not ours, or can't be written to.
    """
    version = _version_of(connection)
    # A token that was replaced is not left behind in the file.
    for pragma in ("journal_mode = DELETE", "synchronous = EXTRA", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    (verdict,) = cast("tuple[str]", connection.execute("PRAGMA quick_check(1)").fetchone())
    if verdict != "ok":
        raise sqlite3.DatabaseError(f"it is damaged: {' '.join(verdict.split())}")

    def begin(connection: sqlite3.Connection) -> None:
        if version != _VERSION:
            _make_tables(connection)
        # A write, so that a database that can't be written to fails the start, not an install.
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        connection.execute("INSERT OR REPLACE INTO about VALUES ('openedAt', ?)", (now,))

    in_transaction(connection, begin)
    rows = connection.execute("SELECT value FROM about WHERE name = 'identity'").fetchone()
    return cast("tuple[str]", rows)[0]


def _version_of(connection: sqlite3.Connection) -> int:
    """Returns the version of its tables, 0 where there are none yet.

    Raises:
        sqlite3.DatabaseError: It is not ours, or of a newer version.
    """
    application = _number(connection, "application_id")
    version = _number(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != _APPLICATION and (application or version or tables):
        raise sqlite3.DatabaseError("it is the database of another program")
    if version > _VERSION:
        raise sqlite3.DatabaseError(
            f"a newer Rhapsode made its tables (version {version}, and this one knows {_VERSION})"
        )
    return version


def _make_tables(connection: sqlite3.Connection) -> None:
    for table in _TABLES:
        connection.execute(table)
    connection.execute("INSERT INTO about VALUES ('identity', ?)", (str(uuid.uuid4()),))
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    (value,) = cast("tuple[int]", connection.execute(f"PRAGMA {pragma}").fetchone())
    return value


def in_transaction(
    connection: sqlite3.Connection, change: Callable[[sqlite3.Connection], None]
) -> None:
    """Does all of a change or nothing.

    Raises:
        sqlite3.Error: It can't be done.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        change(connection)
        connection.execute("COMMIT")
    finally:
        # Whatever failed; a commit that could not be is still open, too.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
