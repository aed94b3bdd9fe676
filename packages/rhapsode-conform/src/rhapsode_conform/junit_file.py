"""The file that a JUnit report goes to, known to be writable before anything is run."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path


class NotWritable(Exception):
    """The report cannot be written; the message says where and why."""


@contextmanager
def junit_file(path: Path) -> Generator[Callable[[str], None]]:
    """Opens the file for a block; yields what puts a text in place of all that it holds.

    Where nothing is written, a file that stood there stays as it was, and there is none where none
    was. What is yielded raises `NotWritable` too.

    Raises:
        NotWritable: The file cannot be opened.
    """
    was_there = path.exists()
    try:
        # Appending, since to open for writing is to lose the report of the last run.
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise _not_writable(path, error) from None

    def write(text: str) -> None:
        try:
            file.truncate(0)
            file.write(text)
            file.flush()
        except OSError as error:
            raise _not_writable(path, error) from None

    try:
        with file:
            yield write
    finally:
        if not was_there and path.stat().st_size == 0:
            path.unlink()


def _not_writable(path: Path, error: OSError) -> NotWritable:
    return NotWritable(f"the report cannot be written to {path}: {error.strerror}")
