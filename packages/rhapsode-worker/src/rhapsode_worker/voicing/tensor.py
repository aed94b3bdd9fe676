"""Numbers that came in a file: a shape, and values in single precision.

Without an array library: a worker has none unless its engine brings one.
"""

import itertools
import math
import struct
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NoReturn

from rhapsode_contract import BadRequest

FIELD: Final = "reference"
"""Where such a file arrives in a request."""

VALUES_LIMIT: Final = 1 << 20
"""Most numbers in one file: eight times what a voice of Kokoro has."""

_DIMENSIONS_LIMIT: Final = 8

FloatKind = Literal["float16", "bfloat16", "float32", "float64"]

FLOAT_BYTES: Final[dict[FloatKind, int]] = {
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
}


@dataclass(frozen=True)
class Tensor:
    """An array of finite numbers; at least one."""

    shape: tuple[int, ...]

    data: bytes
    """float32, little-endian, the last dimension varying fastest."""

    def check_shape(self, *allowed: tuple[int, ...]) -> None:
        """Holds the shape against those that the engine can use.

        Raises:
            BadRequest: It is none of them.
        """
        if self.shape not in allowed:
            wanted = " or ".join(map(_written, allowed))
            refuse(f"has the shape {_written(self.shape)}, not {wanted}")


def refuse(why: str) -> NoReturn:
    """Raises:
    BadRequest: Always; `why` continues "the file …".
    """
    raise BadRequest(f"{FIELD}: the file {why}", field=FIELD)


def count_values(shape: Sequence[int]) -> int:
    """Returns how many numbers an array of this shape has.

    Raises:
        BadRequest: None, or too many, or the shape has too many dimensions.
    """
    if len(shape) > _DIMENSIONS_LIMIT:
        refuse(f"has {len(shape)} dimensions; {_DIMENSIONS_LIMIT} are the most")
    if any(size < 1 for size in shape):
        refuse("holds no numbers")
    count = math.prod(shape)
    if count > VALUES_LIMIT:
        refuse(f"declares more than {VALUES_LIMIT:,} numbers")
    return count


def decode(data: bytes, kind: FloatKind, *, is_little_endian: bool) -> "array[float]":
    """Returns numbers of any kind in single precision; what is too great for it becomes infinite.

    Args:
        data: As many bytes as make whole numbers.
        kind: What they are.
        is_little_endian: How they are ordered.
    """
    is_swapped = is_little_endian != (sys.byteorder == "little")
    if kind == "float16":
        order = "<" if is_little_endian else ">"
        return array("f", struct.unpack(f"{order}{len(data) // 2}e", data))
    if kind == "bfloat16":
        # The upper half of a single.
        halves = array("H", data)
        if is_swapped:
            halves.byteswap()
        return array("f", array("I", (half << 16 for half in halves)).tobytes())
    numbers: array[float] = array("f" if kind == "float32" else "d", data)
    if is_swapped:
        numbers.byteswap()
    return array("f", numbers) if kind == "float64" else numbers


def gather(
    values: "array[float]", shape: tuple[int, ...], strides: Sequence[int], offset: int = 0
) -> Tensor:
    """Returns the array that lies in `values` from `offset` on.

    Args:
        values: What was stored.
        shape: Of the array.
        strides: As many as dimensions; in numbers, not in bytes.
        offset: Of its first number.

    Raises:
        BadRequest: The array does not lie within `values`, or holds what is no finite number.
    """
    count_values(shape)
    if offset < 0 or any(stride < 0 for stride in strides):
        refuse("places its numbers before their beginning")
    last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    if last >= len(values):
        refuse("declares more numbers than it holds")
    ordered = _in_order(values, shape, strides, offset)
    if not all(map(math.isfinite, ordered)):
        refuse("holds a number that is infinite, or none at all")
    if sys.byteorder == "big":
        ordered.byteswap()
    return Tensor(shape, ordered.tobytes())


def _in_order(
    values: "array[float]", shape: tuple[int, ...], strides: Sequence[int], offset: int
) -> "array[float]":
    if not shape:
        return values[offset : offset + 1]
    *outer, (size, stride) = zip(shape, strides, strict=True)
    ordered: array[float] = array("f")
    for index in itertools.product(*(range(outer_size) for outer_size, _ in outer)):
        start = offset + sum(at * step for at, (_, step) in zip(index, outer, strict=True))
        row = values[start : start + (size - 1) * stride + 1 : stride or 1]
        ordered += row if stride else row * size
    return ordered


def _written(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "()"
