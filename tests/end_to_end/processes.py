"""What runs on this machine, for tests that nothing is left running."""

from pathlib import Path


def processes_of(folder: Path) -> list[str]:
    """Returns the command lines of running processes that name the folder."""
    lines: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue  # it ended while we looked
        if str(folder) in line:
            lines.append(line)
    return lines
