"""Floating-point audio as samples: numbers, arrays, and what looks like a tensor."""

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.pcm import pcm_bytes, pcm_pieces


class Tensor:
    """What of torch's is used, over an array of numpy's."""

    def __init__(self, values: Any) -> None:
        self._values = values
        self.dtype = values.dtype

    def is_floating_point(self) -> bool:
        return bool(self.dtype.kind == "f")

    def detach(self) -> "Tensor":
        return self

    def float(self) -> "Tensor":
        return Tensor(self._values.astype(np.float32))

    def cpu(self) -> "Tensor":
        return self

    def numpy(self) -> Any:
        return self._values


def samples_of(pcm: bytes) -> list[int]:
    return array("h", pcm).tolist()


VALUES = [0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -7.0]
EXPECTED = [0, 16384, -16384, 32767, -32767, 32767, -32767]


@pytest.mark.parametrize(
    "samples",
    [
        VALUES,
        tuple(VALUES),
        np.array(VALUES, dtype=np.float64),
        np.array(VALUES, dtype=np.float32),
        np.array(VALUES, dtype=np.float16),
        np.array([VALUES], dtype=np.float32),
        Tensor(np.array(VALUES, dtype=np.float32)),
        Tensor(np.array([VALUES], dtype=np.float16)),
    ],
    ids=["list", "tuple", "double", "single", "half", "row", "tensor", "half tensor row"],
)
def test_values_become_samples_and_what_is_beyond_full_scale_is_clipped(samples: object) -> None:
    assert samples_of(pcm_bytes(samples, channels=1)) == EXPECTED


def test_two_channels_are_interleaved() -> None:
    both = np.array([[0.0, 0.5], [1.0, -1.0]], dtype=np.float32)
    assert samples_of(pcm_bytes(both, channels=2)) == [0, 32767, 16384, -32767]


@pytest.mark.parametrize(
    ("samples", "channels"),
    [
        (np.zeros((2, 5)), 1),
        (np.zeros((5, 2)), 2),
        (np.zeros(5), 2),
        (np.zeros((1, 1, 5)), 1),
        (np.zeros(()), 1),
        ([0.0, 0.5], 2),
        (np.zeros(5, dtype=np.int16), 1),
        (Tensor(np.zeros(5, dtype=np.int16)), 1),
        (np.array([0.0, np.nan]), 1),
        ([0.0, float("nan")], 1),
    ],
)
def test_what_would_come_out_as_noise_is_refused(samples: object, channels: int) -> None:
    with pytest.raises(ValueError, match=r"channel|shape|floating-point|NaN"):
        pcm_bytes(samples, channels)


def test_pieces_are_a_second_and_lose_nothing() -> None:
    native = NativeFormat(sample_rate=22_050, channels=2)
    audio = np.linspace(-1, 1, 2 * 50_000, dtype=np.float32).reshape(2, 50_000)
    pieces = list(pcm_pieces(audio, native))
    assert {len(piece) for piece in pieces[:-1]} == {22_050 * 4}
    assert b"".join(pieces) == pcm_bytes(audio, 2)


def test_no_samples_make_no_piece() -> None:
    assert list(pcm_pieces([], NativeFormat())) == []
    assert list(pcm_pieces(np.zeros(0), NativeFormat())) == []


@given(st.lists(st.floats(-2, 2, width=32)))
def test_a_list_and_an_array_give_the_same_within_one_step(values: list[float]) -> None:
    by_list = samples_of(pcm_bytes(values, 1))
    by_array = samples_of(pcm_bytes(np.array(values, dtype=np.float32), 1))
    assert len(by_list) == len(by_array) == len(values)
    assert all(abs(a - b) <= 1 for a, b in zip(by_list, by_array, strict=True))
