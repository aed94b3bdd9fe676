"""The pickle in a `.pt` file, followed just far enough to learn where its one tensor lies.

A pickle is a program for a stack machine that may import and call anything. This machine knows
the few instructions that `torch.save` writes for a tensor, and six names, which to it are only
words: it imports nothing, calls nothing and makes nothing but numbers, strings and tuples. Every
other instruction or name is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn, TypeVar, cast

from rhapsode_contract.quoting import shown

from rhapsode_worker.voicing.tensor import FloatKind, refuse

_PICKLE_LIMIT_BYTES: Final = 16 * 1024
"""A tensor's takes about 160."""

_PROTOCOL: Final = 2


@dataclass(frozen=True)
class Storage:
    """A run of numbers in the archive."""

    key: str
    """Name of its file in the archive, as the pickle says it: anything."""

    kind: FloatKind

    count: int
    """Numbers in it, as the pickle says it: anything."""


@dataclass(frozen=True)
class StoredTensor:
    """An array over a storage. Nothing of it has been held against the storage yet."""

    storage: Storage

    offset: int

    shape: tuple[int, ...]

    strides: tuple[int, ...]
    """In numbers, one for each dimension."""


@dataclass(frozen=True)
class _Word:
    """A name that torch would import."""

    name: str


class _Mark:
    """Where a tuple begins on the stack."""


class _NoHooks:
    """The empty dictionary that stands for a tensor's backward hooks."""


_REBUILD: Final = _Word("torch._utils._rebuild_tensor_v2")
_DICTIONARY: Final = _Word("collections.OrderedDict")
_STORAGES: Final[dict[_Word, FloatKind]] = {
    _Word("torch.HalfStorage"): "float16",
    _Word("torch.BFloat16Storage"): "bfloat16",
    _Word("torch.FloatStorage"): "float32",
    _Word("torch.DoubleStorage"): "float64",
}
_WORDS: Final = {word.name: word for word in (_REBUILD, _DICTIONARY, *_STORAGES)}

T = TypeVar("T")


def read_tensor_pickle(data: bytes) -> StoredTensor:
    """Returns the tensor that a pickle describes.

    Raises:
        BadRequest: It describes anything else.
    """
    if len(data) > _PICKLE_LIMIT_BYTES:
        refuse("holds more than one tensor")
    if data[:1] != b"\x80" or data[1:2] != bytes([_PROTOCOL]):
        refuse(f"has a pickle that is not of protocol {_PROTOCOL}, which torch.save writes")
    return _Machine(data).run()


class _Machine:
    """The stack, the memo, and how far the pickle has been read.

    Values on the stack are never compared, hashed or shown: a few bytes can nest a tuple in
    itself so often that any of these would not end.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 2
        self._stack: list[object] = []
        self._memo: dict[int, object] = {}

    def run(self) -> StoredTensor:
        """Follows the pickle to its end."""
        while (opcode := self._take(1)[0]) != _STOP:
            step = _STEPS.get(opcode)
            if step is None:
                refuse(f"has a pickle with the instruction {opcode:#04x}, which no tensor needs")
            step(self)
        tensor = self._pop(StoredTensor)
        if self._stack or self._at != len(self._data):
            refuse("holds more than one tensor")
        return tensor

    def mark(self) -> None:
        self._stack.append(_Mark())

    def name(self) -> None:
        module, name = self._line(), self._line()
        word = _WORDS.get(f"{module}.{name}")
        if word is None:
            refuse(f"is not a plain tensor: it asks for {shown(f'{module}.{name}')}")
        self._stack.append(word)

    def text(self) -> None:
        length = int.from_bytes(self._take(4), "little")
        try:
            self._stack.append(self._take(length).decode())
        except UnicodeDecodeError:
            refuse("has a pickle with text that is not UTF-8")

    def number(self, size_bytes: int) -> None:
        # Of four bytes it is signed, of fewer it is not.
        number = int.from_bytes(self._take(size_bytes), "little", signed=size_bytes == 4)
        self._stack.append(number)

    def truth(self, truth: bool) -> None:
        self._stack.append(truth)

    def tuple_of(self, count: int) -> None:
        items = [self._pop(object) for _ in range(count)]
        self._stack.append(tuple(reversed(items)))

    def tuple_since_mark(self) -> None:
        items: list[object] = []
        while not isinstance(item := self._pop(object), _Mark):
            items.append(item)
        self._stack.append(tuple(reversed(items)))

    def remember(self) -> None:
        key, value = self._take(1)[0], self._pop(object)
        self._memo[key] = value
        self._stack.append(value)

    def recall(self) -> None:
        key = self._take(1)[0]
        if key not in self._memo:
            self._refuse_stack()
        self._stack.append(self._memo[key])

    def storage(self) -> None:
        """What torch does with a persistent id: `("storage", type, key, device, count)`."""
        said = self._pop_tuple()
        if len(said) != 5 or said[0] != "storage":
            self._refuse_stack()
        kind, key, count = said[1], said[2], said[4]
        if not isinstance(kind, _Word) or kind not in _STORAGES:
            refuse("holds numbers that are no floating-point numbers of 2, 4 or 8 bytes")
        if not isinstance(key, str) or type(count) is not int:
            self._refuse_stack()
        self._stack.append(Storage(key, _STORAGES[kind], count))

    def rebuild(self) -> None:
        """What a call would do, for the two calls that there are."""
        arguments, word = self._pop_tuple(), self._pop(_Word)
        if word == _DICTIONARY and not arguments:
            self._stack.append(_NoHooks())
        elif word == _REBUILD and len(arguments) == 6:
            self._stack.append(self._tensor(arguments))
        else:
            self._refuse_stack()

    def _tensor(self, arguments: tuple[object, ...]) -> StoredTensor:
        storage, offset, shape, strides, _, hooks = arguments
        if not isinstance(storage, Storage) or not isinstance(hooks, _NoHooks):
            self._refuse_stack()
        if type(offset) is not int:
            self._refuse_stack()
        sizes, steps = self._numbers(shape), self._numbers(strides)
        if len(sizes) != len(steps):
            self._refuse_stack()
        return StoredTensor(storage, offset, sizes, steps)

    def _numbers(self, value: object) -> tuple[int, ...]:
        if not isinstance(value, tuple):
            self._refuse_stack()
        items = cast("tuple[object, ...]", value)
        numbers = tuple(item for item in items if type(item) is int)
        if len(numbers) != len(items):
            self._refuse_stack()
        return numbers

    def _pop(self, kind: type[T]) -> T:
        value = self._stack.pop() if self._stack else None
        if value is None or not isinstance(value, kind):
            self._refuse_stack()
        return value

    def _pop_tuple(self) -> tuple[object, ...]:
        return cast("tuple[object, ...]", self._pop(tuple))

    def _take(self, count: int) -> bytes:
        piece = self._data[self._at : self._at + count]
        if len(piece) != count:
            refuse("has a pickle that ends too early")
        self._at += count
        return piece

    def _line(self) -> str:
        end = self._data.find(b"\n", self._at)
        if end < 0:
            refuse("has a pickle that ends too early")
        line = self._take(end - self._at)
        self._at += 1
        return line.decode("ascii", errors="replace")

    def _refuse_stack(self) -> NoReturn:
        refuse("has a pickle that describes no plain tensor")


_STOP: Final = ord(".")
_STEPS: Final[dict[int, Callable[[_Machine], None]]] = {
    ord("("): _Machine.mark,
    ord("c"): _Machine.name,
    ord("X"): _Machine.text,
    ord("J"): lambda machine: machine.number(4),
    ord("M"): lambda machine: machine.number(2),
    ord("K"): lambda machine: machine.number(1),
    0x88: lambda machine: machine.truth(True),
    0x89: lambda machine: machine.truth(False),
    ord(")"): lambda machine: machine.tuple_of(0),
    0x85: lambda machine: machine.tuple_of(1),
    0x86: lambda machine: machine.tuple_of(2),
    0x87: lambda machine: machine.tuple_of(3),
    ord("t"): _Machine.tuple_since_mark,
    ord("q"): _Machine.remember,
    ord("h"): _Machine.recall,
    ord("Q"): _Machine.storage,
    ord("R"): _Machine.rebuild,
}
"""The instructions that `torch.save` writes for a tensor, by opcode."""
