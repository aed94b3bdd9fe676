"""A small random graph with Kokoro's inputs and output, written as ONNX without its library.

Each phoneme is a twentieth of a second of noise that belongs to it, coloured by the voice; half as
fast is twice as long. Of what a model file may hold, only what this needs is written.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_SAMPLES: Final = 1200
"""A phoneme's, at speed 1."""

_SYMBOLS: Final = 178
_WIDTH: Final = 8
_STYLE: Final = 256

_FLOAT: Final = 1
_INT64: Final = 7
_FLOAT16: Final = 10
_INTEGER_ATTRIBUTE: Final = 2


def small_graph(precision: str, *, seed: int = 0, phonemes: str = "tokens") -> bytes:
    """Returns the contents of a `.onnx` file.

    Args:
        precision: `float32` or `float16`, of its weights. What goes in and comes out is float32.
        seed: Of its weights.
        phonemes: What its first input is called.
    """
    random = np.random.default_rng(seed)
    kind = np.dtype(precision)
    weights = {
        "symbols": random.normal(size=(_SYMBOLS, _WIDTH)).astype(kind),
        "sounds": random.normal(size=(_WIDTH, _SAMPLES), scale=0.1).astype(kind),
        "colours": random.normal(size=(_STYLE, _WIDTH), scale=0.2).astype(kind),
    }
    element = _FLOAT16 if kind == np.float16 else _FLOAT
    nodes = [
        _node("Cast", ["style"], "style_cast", to=element),
        _node("Gather", ["symbols", phonemes], "embedded"),
        _node("MatMul", ["style_cast", "colours"], "colour"),
        _node("Mul", ["embedded", "colour"], "coloured"),
        _node("MatMul", ["coloured", "sounds"], "noise"),
        _node("Tanh", ["noise"], "bounded"),
        _node("Cast", ["bounded"], "sound", to=_FLOAT),
        # One channel of all samples, longer or shorter: (1, 1, n) -> (1, 1, n / speed) -> (n,).
        _node("Reshape", ["sound", "row"], "rowed"),
        _node("Div", ["one", "speed"], "slowness"),
        _node("Concat", ["ones", "slowness"], "scales", axis=0),
        _node("Resize", ["rowed", "", "scales"], "stretched"),
        _node("Reshape", ["stretched", "flat"], "audio"),
    ]
    constants = {
        "row": np.array([1, 1, -1], np.int64),
        "flat": np.array([-1], np.int64),
        "one": np.ones(1, np.float32),
        "ones": np.ones(2, np.float32),
    }
    inputs = [
        _value(phonemes, _INT64, (1, "n")),
        _value("style", _FLOAT, (1, _STYLE)),
        _value("speed", _FLOAT, (1,)),
    ]
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"small")
    graph += b"".join(_field(5, _tensor(*each)) for each in (weights | constants).items())
    graph += b"".join(_field(11, each) for each in inputs)
    graph += _field(12, _value("audio", _FLOAT, ("samples",)))
    operators = _field(1, b"") + _field(2, 17)
    return _field(1, 8) + _field(7, graph) + _field(8, operators)


def _node(operator: str, inputs: Sequence[str], output: str, **integers: int) -> bytes:
    body = b"".join(_field(1, name.encode()) for name in inputs)
    body += _field(2, output.encode()) + _field(4, operator.encode())
    for name, value in integers.items():
        attribute = _field(1, name.encode()) + _field(3, value) + _field(20, _INTEGER_ATTRIBUTE)
        body += _field(5, attribute)
    return body


def _tensor(name: str, values: NDArray[np.generic]) -> bytes:
    kinds = {"float16": _FLOAT16, "float32": _FLOAT, "int64": _INT64}
    body = b"".join(_field(1, size) for size in values.shape)
    body += _field(2, kinds[values.dtype.name]) + _field(8, name.encode())
    return body + _field(9, values.tobytes())


def _value(name: str, element: int, shape: Sequence[int | str]) -> bytes:
    sizes = b"".join(
        _field(1, _field(1, size) if isinstance(size, int) else _field(2, size.encode()))
        for size in shape
    )
    tensor = _field(1, element) + _field(2, sizes)
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, value: int | bytes) -> bytes:
    """Returns a field of a protocol buffer: a number, or bytes with their length before them."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])
