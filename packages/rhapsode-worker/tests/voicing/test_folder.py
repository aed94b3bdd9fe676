"""A folder held open, and names that would leave it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rhapsode_worker.voicing.folder import Folder

NAMES = ["", ".", "..", "../outside", "/etc/hostname", "inner/file", "a\0b"]


USES: dict[str, Callable[[Folder, str], object]] = {
    "open": lambda folder, name: folder.open_file(name),
    "make": lambda folder, name: folder.make_file(name),
    "write": lambda folder, name: folder.write_file(name, b"x"),
    "lock": lambda folder, name: folder.open_lock(name, is_made=True),
    "remove": lambda folder, name: folder.remove(name),
    "move": lambda folder, name: folder.move(name, folder, "new"),
    "move to": lambda folder, name: folder.move("file", folder, name),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_name_that_would_leave_its_folder_is_an_error(
    tmp_path: Path, name: str, use: Callable[[Folder, str], object]
) -> None:
    (tmp_path / "outside").write_bytes(b"outside")
    inside = tmp_path / "inside"
    (inside / "inner").mkdir(parents=True)
    (inside / "inner" / "file").write_bytes(b"deeper")
    (inside / "file").write_bytes(b"inside")
    with Folder.open(inside) as folder, pytest.raises(OSError, match="no plain name"):
        use(folder, name)
    assert (tmp_path / "outside").read_bytes() == b"outside"
    assert (inside / "inner" / "file").read_bytes() == b"deeper"
    assert (inside / "file").read_bytes() == b"inside"
