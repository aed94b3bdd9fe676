"""`.npy` files: real ones read, every other one refused."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_contract import BadRequest
from rhapsode_worker.voicing.npy import read_npy
from rhapsode_worker.voicing.tensor import VALUES_LIMIT

from .numbers_file import DATA, NUMBERS, SHAPE, numbers_of


def npy(header: str, body: bytes = b"", version: int = 1) -> bytes:
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + body


HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
BODY = struct.pack("<2f", 0.5, -2.0)


@pytest.mark.parametrize(
    "name",
    [
        "little_f2",
        "little_f4",
        "little_f8",
        "big_f2",
        "big_f4",
        "big_f8",
        "fortran",
        "version2",
        "version3",
    ],
)
def test_every_kind_of_number_and_order_is_read(name: str) -> None:
    tensor = read_npy((DATA / f"{name}.npy").read_bytes())
    assert tensor.shape == SHAPE
    assert numbers_of(tensor) == NUMBERS


def test_a_lone_number_has_no_dimensions() -> None:
    tensor = read_npy((DATA / "zero_dimensions.npy").read_bytes())
    assert (tensor.shape, numbers_of(tensor)) == ((), [0.5])


@pytest.mark.parametrize(
    "header",
    [
        HEADER,
        "{'shape': (2,), 'descr': '<f4', 'fortran_order': True}",
        '{"descr": "<f4", "fortran_order": False, "shape": (2, )}   \n',
        "{'descr':'<f4','fortran_order':False,'shape':(2L,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }",
    ],
)
def test_a_header_may_be_written_in_any_way_that_numpy_reads(header: str) -> None:
    assert numbers_of(read_npy(npy(header, BODY))) == [0.5, -2.0]


@pytest.mark.parametrize("name", ["objects", "int32"])
def test_what_is_no_floating_point_array_is_refused(name: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        read_npy((DATA / f"{name}.npy").read_bytes())
    assert refusal.value.field == "reference"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "{",
        "{}",
        "[]",
        "{'descr': '<f4', 'fortran_order': False}",
        HEADER.replace("'shape'", "'size'"),
        HEADER.replace("}", "'descr': '<f4'}"),
        HEADER.replace("}", "'more': 1}"),
        HEADER.replace("False", "0"),
        HEADER.replace("False", "'x'"),
        HEADER.replace("<f4", "|O"),
        HEADER.replace("<f4", "f4"),
        HEADER.replace("<f4", "=f4"),
        HEADER.replace("<f4", "<f16"),
        HEADER.replace("<f4", "<c8"),
        HEADER.replace("'<f4'", "[('a', '<f4')]"),
        HEADER.replace("(2,)", "(-2,)"),
        HEADER.replace("(2,)", "(0,)"),
        HEADER.replace("(2,)", "(3,)"),
        HEADER.replace("(2,)", "(1,)"),
        HEADER.replace("(2,)", "(1, , 2)"),
        HEADER.replace("(2,)", "(,)"),
        HEADER.replace("(2,)", "2"),
        HEADER.replace("(2,)", "(9" + "9" * 200 + ",)"),
        HEADER.replace("(2,)", f"({VALUES_LIMIT + 1},)"),
        HEADER.replace("(2,)", "(" + "1, " * 8 + "2)"),
        HEADER.replace("(2,)", "(1 << 4,)"),
        HEADER.replace("(2,)", "(__import__('os').system('true'),)"),
        "{" * 5000,
        "{" + " " * 9000 + "x}",
    ],
)
def test_a_header_that_says_anything_else_is_refused(header: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        read_npy(npy(header, BODY))
    assert refusal.value.field == "reference"


def test_a_header_is_bounded_before_it_is_read() -> None:
    with pytest.raises(BadRequest):
        read_npy(npy(HEADER + " " * 20_000, BODY, version=2))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_finite_number_is_refused(number: float) -> None:
    with pytest.raises(BadRequest):
        read_npy(npy(HEADER, struct.pack("<2f", 0.0, number)))


def test_a_number_too_great_for_single_precision_is_refused() -> None:
    with pytest.raises(BadRequest):
        read_npy(npy(HEADER.replace("<f4", "<f8"), struct.pack("<2d", 0.0, 1e300)))


@pytest.mark.parametrize("body", [b"", BODY[:-1], BODY + b"\0", BODY * 2])
def test_a_file_has_exactly_the_numbers_that_it_declares(body: bytes) -> None:
    with pytest.raises(BadRequest):
        read_npy(npy(HEADER, body))


@pytest.mark.parametrize("version", [0, 4, 255])
def test_an_unknown_version_is_refused(version: int) -> None:
    with pytest.raises(BadRequest):
        read_npy(npy(HEADER, BODY, version=version))


@given(st.binary() | st.binary().map(lambda tail: b"\x93NUMPY\x01\x00" + tail))
def test_any_bytes_are_an_array_or_refused(data: bytes) -> None:
    try:
        read_npy(data)
    except BadRequest as refusal:
        assert len(refusal.message) < 300


@given(st.data())
def test_a_real_file_with_bytes_changed_is_read_or_refused(data: st.DataObject) -> None:
    real = bytearray((DATA / "little_f4.npy").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        real[data.draw(st.integers(0, len(real) - 1))] = data.draw(st.integers(0, 255))
    try:
        read_npy(bytes(real[: data.draw(st.integers(0, len(real)))]))
    except BadRequest as refusal:
        assert len(refusal.message) < 300


@given(st.text(alphabet="{}'\"descrfotan_shp: ,()<>f248TrueFalse 0123456789L\n", max_size=200))
def test_any_header_is_one_or_refused(header: str) -> None:
    with pytest.raises(BadRequest):
        read_npy(npy(header, b"x"))
