"""What a worker and its encoder child say to each other over two pipes.

A message is one byte of kind, four of length (big-endian), and at most 64 KiB of payload:

    child  → worker   READY    {"missing": {format: reason}}    once, at the start
    worker → child    START    {"format", "sample_rate", "channels", "buffered"}
    child  → worker   STARTED                                   the codec is open
    worker → child    PCM      whole frames                     any number of times
    child  → worker   DATA     encoded bytes                    at any time from here
    worker → child    FINISH
    child  → worker   END                                       the next START may come
    child  → worker   ERROR    a sentence                       instead of the rest; then it exits

One response at a time. End-of-file on its input ends the child.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Final

MAX_PAYLOAD_BYTES: Final = 65_536

_HEAD: Final = struct.Struct(">BI")
HEAD_BYTES: Final = _HEAD.size


class Kind(IntEnum):
    """What a message is; the numbers are those on the wire."""

    READY = 1
    START = 2
    STARTED = 3
    PCM = 4
    DATA = 5
    FINISH = 6
    END = 7
    ERROR = 8


class FramingError(Exception):
    """The other side does not speak this protocol."""


def pack(kind: Kind, payload: bytes | memoryview = b"") -> bytes:
    """Returns one message; `payload` is at most `MAX_PAYLOAD_BYTES`."""
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise ValueError(f"a payload of {len(payload)} bytes; at most {MAX_PAYLOAD_BYTES}")
    return _HEAD.pack(kind, len(payload)) + payload


def unpack_head(head: bytes) -> tuple[Kind, int]:
    """Returns the kind and the payload's length that `HEAD_BYTES` bytes say.

    Raises:
        FramingError: An unknown kind, or too long.
    """
    number, length = _HEAD.unpack(head)
    try:
        kind = Kind(number)
    except ValueError:
        raise FramingError(f"message of unknown kind {number}") from None
    if length > MAX_PAYLOAD_BYTES:
        raise FramingError(f"message of {length} bytes; at most {MAX_PAYLOAD_BYTES}")
    return kind, length


def pieces(payload: bytes, piece_bytes: int = MAX_PAYLOAD_BYTES) -> Iterator[memoryview]:
    """Cuts `payload` into runs of at most `piece_bytes`, without copying it."""
    view = memoryview(payload)
    for start in range(0, len(view), piece_bytes):
        yield view[start : start + piece_bytes]


class Unpacker:
    """Bytes as they come in, messages as they become whole."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Kind, bytes]]:
        """Takes `data` and gives every message that is whole now.

        Raises:
            FramingError: What came is no message.
        """
        self._buffer += data
        while len(self._buffer) >= HEAD_BYTES:
            kind, length = unpack_head(bytes(self._buffer[:HEAD_BYTES]))
            end = HEAD_BYTES + length
            if len(self._buffer) < end:
                return
            payload = bytes(self._buffer[HEAD_BYTES:end])
            del self._buffer[:end]
            yield kind, payload
