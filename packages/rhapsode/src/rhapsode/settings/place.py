"""A folder that a setting names, looked at before anybody needs it. All of this blocks."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from rhapsode.settings.start_refused import StartRefused


class FolderRefused(StartRefused):
    """There can be no folder where a setting says that one is."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"{key}: {why}", key)


def check_folder(key: str, folder: Path) -> Path:
    """Looks whether a folder is there or may come to be; makes nothing.

    Returns:
        The folder, or the innermost of those above it that is there.

    Raises:
        FolderRefused: Something else is there, or on the way there, or nobody can look.
    """
    there = folder
    try:
        while not there.exists() and there != there.parent:
            there = there.parent
        is_folder = there.is_dir()
    except OSError as error:
        raise FolderRefused(key, f"{there} can't be looked at: {error.strerror}") from None
    if not is_folder:
        raise FolderRefused(key, f"{there} is no folder")
    return there


def check_can_be_made(key: str, folder: Path) -> None:
    """Looks whether a folder is there or can be made, by making it for a moment.

    Raises:
        FolderRefused: It can't, or something else is there.
    """
    check_folder(key, folder)
    try:
        with tidied(folder):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FolderRefused(key, f"{folder} can't be made: {error.strerror}") from None


@contextmanager
def tidied(folder: Path) -> Generator[None]:
    """Removes what the block makes of a folder and of those above it, unless something is in it.

    Raises:
        OSError: Nobody can look what is there before.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        yield
    finally:
        for one in missing:
            with suppress(OSError):
                one.rmdir()
