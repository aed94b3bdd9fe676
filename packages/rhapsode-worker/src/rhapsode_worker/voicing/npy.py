"""numpy's `.npy`, read as data: its header is matched, never evaluated."""

import itertools
import re
from typing import Final

from rhapsode_contract.quoting import shown

from rhapsode_worker.voicing.tensor import (
    FLOAT_BYTES,
    FloatKind,
    Tensor,
    count_values,
    decode,
    gather,
    refuse,
)

_MAGIC: Final = b"\x93NUMPY"
_HEADER_LIMIT_BYTES: Final = 10_000
"""What numpy itself reads of a file that it does not trust."""

_LENGTH_BYTES: Final = {1: 2, 2: 4, 3: 4}
"""How long the header's length is, by the format's major version."""

_KINDS: Final[dict[str, FloatKind]] = {"f2": "float16", "f4": "float32", "f8": "float64"}

# The header is Python's notation for a dictionary of these three; commas end all but the last.
_ENTRY: Final = re.compile(
    r"""\s*(?:'(?P<key>descr|fortran_order|shape)'|"(?P<other_key>descr|fortran_order|shape)")"""
    r"""\s*:\s*(?:'(?P<text>[^']*)'|"(?P<other_text>[^"]*)"|(?P<word>True|False)"""
    r"""|\((?P<sizes>[0-9L,\s]*)\))\s*(?:,\s*|$)"""
)
_SIZE: Final = re.compile(r"\s*([0-9]{1,18})L?\s*")


def read_npy(data: bytes) -> Tensor:
    """Reads an array of floating-point numbers of 2, 4 or 8 bytes.

    Raises:
        BadRequest: The file is something else.
    """
    header, body = _split(data)
    entries = _entries(header)
    order, kind = _number_format(entries["descr"])
    shape = _shape(entries["shape"])
    count = count_values(shape)
    if len(body) != count * FLOAT_BYTES[kind]:
        refuse(f"should hold {count:,} numbers, and holds {len(body):,} bytes of them")
    values = decode(body, kind, is_little_endian=order == "<")
    # What a step along each dimension skips; Fortran's first dimension varies fastest.
    is_fortran = entries["fortran_order"] == "True"
    if is_fortran:
        strides = [1, *itertools.accumulate(shape[:-1], int.__mul__)]
    else:
        strides = [1, *itertools.accumulate(shape[:0:-1], int.__mul__)][::-1]
    return gather(values, shape, strides[: len(shape)])


def _split(data: bytes) -> tuple[str, bytes]:
    """Returns the header and what follows it."""
    if not data.startswith(_MAGIC):
        refuse("is no .npy array")
    version, start = data[6:7], 8
    length_bytes = _LENGTH_BYTES.get(version[0]) if version else None
    if length_bytes is None:
        refuse("is of a version of .npy that is not 1, 2 or 3")
    start += length_bytes
    length = int.from_bytes(data[8:start], "little")
    header = data[start : start + length]
    if length > _HEADER_LIMIT_BYTES:
        refuse("has a header that is too long")
    # Version 3 allows UTF-8; nothing that is read here is other than ASCII.
    return header.decode("ascii", errors="replace"), data[start + length :]


def _entries(header: str) -> dict[str, str]:
    text = header.strip()
    if not (text.startswith("{") and text.endswith("}")):
        refuse("has a header that is no dictionary")
    text, at = text[1:-1], 0
    entries: dict[str, str] = {}
    while at < len(text):
        found = _ENTRY.match(text, at)
        if found is None or found.end() == at:
            refuse(f"has a header that is wrong at {shown(text[at : at + 20])}")
        key = found["key"] or found["other_key"]
        if key in entries:
            refuse(f"has a header that says {key} twice")
        entries[key] = next(
            (value for value in found.group("text", "other_text", "word", "sizes") if value), ""
        )
        at = found.end()
    if missing := {"descr", "fortran_order", "shape"} - entries.keys():
        refuse(f"has a header without {', '.join(sorted(missing))}")
    if entries["fortran_order"] not in {"True", "False"}:
        refuse("has a header whose fortran_order is neither True nor False")
    return entries


def _number_format(descr: str) -> tuple[str, FloatKind]:
    order, kind = descr[:1], _KINDS.get(descr[1:])
    if order not in {"<", ">"} or kind is None:
        refuse(f"holds {shown(descr)}; floating-point numbers of 2, 4 or 8 bytes are wanted")
    return order, kind


def _shape(sizes: str) -> tuple[int, ...]:
    parts = sizes.split(",")
    if not parts[-1].strip():
        parts.pop()
    found = [_SIZE.fullmatch(part) for part in parts]
    shape = tuple(int(size[1]) for size in found if size is not None)
    if len(shape) != len(parts):
        refuse(f"has the shape {shown(sizes)}, which is none")
    return shape
