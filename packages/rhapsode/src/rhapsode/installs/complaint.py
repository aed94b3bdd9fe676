"""Which line of a failed command's output says why it failed.

Not the last one: pip ends a failed build with a footer that names the package, uv with a hint. What
these programs say comes in a few forms. Each is a rule here, in the order in which they explain one
another: a missing compiler is why a build failed, a dead connection is why nothing matched.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rhapsode_contract.quoting import cut

_SHOWN_CHARACTERS: Final = 700

Find = Callable[[Sequence[str]], str]
"""Returns what says why; nothing where the output does not have this form."""


@dataclass(frozen=True)
class Complaint:
    """Why a command failed."""

    text: str
    """On one line; empty where the command said nothing."""

    may_pass: bool = False
    """Whether the same command may work later: no network, no room."""


@dataclass(frozen=True)
class _Rule:
    """One form of saying why."""

    find: Find

    may_pass: bool = False


def complaint(lines: Sequence[str]) -> Complaint:
    """Returns why a command failed, in its own words.

    Args:
        lines: What it printed, in order, indented as it was.
    """
    said = [line for line in lines if line.strip()]
    for rule in _RULES:
        found = rule.find(said)
        if found:
            return Complaint(cut(found, _SHOWN_CHARACTERS), rule.may_pass)
    return Complaint("")


def _line(pattern: str, *, is_last: bool = False, more: int = 0) -> Find:
    """Makes the search for the first line that matches, or the last.

    Args:
        pattern: Of the line, its indentation included.
        is_last: Whether the last of several says why.
        more: How many lines after it belong to it.
    """
    wanted = re.compile(pattern)

    def find(lines: Sequence[str]) -> str:
        at = [number for number, line in enumerate(lines) if wanted.search(line)]
        if not at:
            return ""
        start = at[-1] if is_last else at[0]
        return _joined(lines[start : start + 1 + more])

    return find


def _unreachable(pattern: str) -> Find:
    """Makes the search for what kept pip from an index, where it then found nothing there.

    pip tells of that only in passing, and also where the next try went well; what it ends with
    says that there is no such package.
    """
    broken = re.compile(pattern)

    def find(lines: Sequence[str]) -> str:
        wanted = [found.group(1) for line in lines if (found := _UNSATISFIED.search(line))]
        for line in reversed(lines):
            if broken.search(line) and any(f"/{_normal(name)}/" in line for name in wanted):
                return _joined([line])
        return ""

    return find


def _exception(lines: Sequence[str]) -> str:
    """Finds the last exception of a traceback, with the lines of its message."""
    at = [number for number, line in enumerate(lines) if _EXCEPTION.match(line)]
    if not at or not any(_TRACEBACK in line for line in lines):
        return ""
    first, *rest = lines[at[-1] : at[-1] + 3]
    message = [first]
    for line in rest:
        if _indent(line) != _indent(first) or _AFTER_MESSAGE.match(line):
            break
        message.append(line)
    return _joined(message)


def _block_end(lines: Sequence[str]) -> str:
    """Finds the last thing that a build printed, where it said nothing that is known."""
    for number, line in enumerate(lines):
        if number and line.strip() == "[end of output]":
            return _joined([lines[number - 1]])
    starts = [number for number, line in enumerate(lines) if line.strip() in _UV_STREAMS]
    if not starts:
        return ""
    last = ""
    for line in lines[starts[-1] + 1 :]:
        if _indent(line) < _BLOCK_INDENT:
            break
        last = line
    return _joined([last])


def _causes(lines: Sequence[str]) -> str:
    """Finds an error of uv's: its first cause, and the last one, which explains the others."""
    start = next((number for number, line in enumerate(lines) if line.startswith("error: ")), None)
    if start is None:
        return ""
    causes: list[str] = []
    for line in lines[start + 1 :]:
        if line.startswith("  cause: "):
            causes.append(_joined([line]))
        elif causes and _indent(line) >= _BLOCK_INDENT:
            causes[-1] += f" {line.strip()}"
        else:
            break
    # Where there is only one, the error is nothing but its heading.
    heading = [] if len(causes) == 1 else [_joined([lines[start]])]
    return ": ".join(dict.fromkeys([*heading, *causes[:1], *causes[-1:]]))


def _causes_with(pattern: str) -> Find:
    """Makes the search for an error of uv's that has such a cause."""
    wanted = re.compile(pattern)
    return lambda lines: _causes(lines) if any(map(wanted.search, lines)) else ""


def _joined(lines: Sequence[str]) -> str:
    return " ".join(_LABEL.sub("", line.strip(), count=1) for line in lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _normal(name: str) -> str:
    """Returns a package's name as indexes spell it in addresses."""
    return re.sub(r"[-_.]+", "-", name).lower()


_LABEL: Final = re.compile(r"^(?:ERROR|WARNING|error|cause|Error): ")
_UNSATISFIED: Final = re.compile(
    r"Could not find a version that satisfies the requirement ([\w.-]+)"
)
_TRACEBACK: Final = "Traceback (most recent call last):"
_EXCEPTION: Final = re.compile(r"\s*[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)(?:: |:?$)")
_AFTER_MESSAGE: Final = re.compile(
    r"\s*(?:Traceback |During handling |The above |\[|hint: |note: )"
)
_UV_STREAMS: Final = ("[stdout]", "[stderr]")
_BLOCK_INDENT: Final = 6
_BLOCK: Final = rf"^\s{{{_BLOCK_INDENT},}}"
"""pip and uv indent what a build printed by this much or more."""

_RULES: Final = (
    _Rule(_line(r"No space left on device|Disk quota exceeded", is_last=True), may_pass=True),
    _Rule(_line(r"Read-only file system", is_last=True)),
    _Rule(_line(r"DO NOT MATCH THE HASHES", more=3)),
    _Rule(_line(r"Hash mismatch for", more=4)),
    _Rule(_unreachable(r"SSL|certificate")),
    _Rule(_unreachable(r"after connection broken by|Could not fetch URL"), may_pass=True),
    _Rule(
        _line(
            r"^(?!WARNING).*(?:Max retries exceeded|Read timed out|IncompleteRead"
            r"|Connection reset by peer|HTTP error (?:5\d\d|429))",
            is_last=True,
        ),
        may_pass=True,
    ),
    _Rule(_causes_with(r"^  cause: invalid peer certificate")),
    _Rule(
        _causes_with(r"^  cause: (?:error sending request|client error|operation timed out)"), True
    ),
    _Rule(_line(_BLOCK + r"CMake Error", more=2)),
    _Rule(_line(_BLOCK + r"(?:\S.*: )?fatal error")),
    _Rule(_line(_BLOCK + r"\S.*:\d+: error: ")),
    _Rule(_line(_BLOCK + r"error: (?!Command '\[|subprocess-exited|metadata-|failed-)")),
    _Rule(_line(_BLOCK + r"ERROR: ")),
    _Rule(_exception),
    _Rule(_block_end),
    _Rule(_causes),
    _Rule(_line(r"ensurepip is not$", more=4)),
    _Rule(_line(r"^ERROR: .*conflicting dependencies", more=3)),
    _Rule(_line(r"^ERROR: ")),
    _Rule(_line(r"(?i)\berror\b", is_last=True)),
    _Rule(lambda lines: _joined(lines[-1:])),
)
