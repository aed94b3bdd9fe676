"""`.pt` files: real ones read as data, every other one refused, and nothing in any ever run."""

import io
import pickle
import struct
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_contract import BadRequest
from rhapsode_worker.voicing import tensor_pickle
from rhapsode_worker.voicing.tensor import VALUES_LIMIT
from rhapsode_worker.voicing.tensor_pickle import read_tensor_pickle
from rhapsode_worker.voicing.voicepack import read_voicepack

from .numbers_file import DATA, NUMBERS, SHAPE, numbers_of


def entries_of(name: str) -> dict[str, bytes]:
    with zipfile.ZipFile(DATA / f"{name}.pt") as archive:
        return {entry: archive.read(entry) for entry in archive.namelist()}


def archive_of(entries: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return file.getvalue()


def with_entry(name: str, data: bytes) -> bytes:
    """The real file with one entry replaced or added."""
    return archive_of(entries_of("float32") | {f"float32/{name}": data})


REAL = (DATA / "float32.pt").read_bytes()
PICKLE = entries_of("float32")["float32/data.pkl"]


def refused(data: bytes) -> str:
    with pytest.raises(BadRequest) as refusal:
        read_voicepack(data)
    assert refusal.value.field == "reference"
    assert len(refusal.value.message) < 300
    return refusal.value.message


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "grown"])
def test_every_kind_of_number_is_read(name: str) -> None:
    tensor = read_voicepack((DATA / f"{name}.pt").read_bytes())
    assert tensor.shape == SHAPE
    assert numbers_of(tensor) == NUMBERS


def test_a_permuted_tensor_is_put_in_order() -> None:
    tensor = read_voicepack((DATA / "permuted.pt").read_bytes())
    assert tensor.shape == (6, 1, 4)
    assert numbers_of(tensor) == [
        NUMBERS[6 * row + column] for column in range(6) for row in range(4)
    ]


def test_a_view_is_read_from_its_place_in_the_storage() -> None:
    tensor = read_voicepack((DATA / "view.pt").read_bytes())
    assert numbers_of(tensor) == [1 + number for number in NUMBERS]


def test_an_expanded_tensor_repeats_its_numbers() -> None:
    tensor = read_voicepack((DATA / "expanded.pt").read_bytes())
    assert (tensor.shape, numbers_of(tensor)) == ((3, 2), [0.5] * 6)


def test_a_lone_number_has_no_dimensions() -> None:
    tensor = read_voicepack((DATA / "scalar.pt").read_bytes())
    assert (tensor.shape, numbers_of(tensor)) == ((), [0.5])


def test_a_big_endian_archive_is_read_as_it_says() -> None:
    entries = entries_of("float32")
    entries["float32/byteorder"] = b"big"
    entries["float32/data/0"] = struct.pack(">24f", *NUMBERS)
    assert numbers_of(read_voicepack(archive_of(entries))) == NUMBERS


def test_an_archive_that_says_no_order_is_little_endian() -> None:
    entries = entries_of("float32")
    del entries["float32/byteorder"]
    assert numbers_of(read_voicepack(archive_of(entries))) == NUMBERS


@pytest.mark.parametrize(
    "name",
    [
        "dictionary",
        "int64",
        "legacy",
        "list",
        "module",
        "parameter",
        "protocol4",
        "script",
        "sparse",
    ],
)
def test_whatever_else_torch_saves_is_refused(name: str) -> None:
    refused((DATA / f"{name}.pt").read_bytes())


def test_what_a_file_asks_for_is_named() -> None:
    assert "'torch.nn.modules.linear.Linear'" in refused((DATA / "module.pt").read_bytes())


def test_torchs_older_formats_are_refused_by_name() -> None:
    assert "before 1.6" in refused((DATA / "legacy.pt").read_bytes())
    assert "tar archive" in refused(b"\0" * 257 + b"ustar" + b"\0" * 250)
    assert "TorchScript" in refused((DATA / "script.pt").read_bytes())


def test_a_shape_is_held_against_those_an_engine_can_use() -> None:
    tensor = read_voicepack(REAL)
    tensor.check_shape((510, 1, 256), SHAPE)
    with pytest.raises(BadRequest, match="4 x 1 x 6, not 510 x 1 x 256"):
        tensor.check_shape((510, 1, 256))


# Pickles that would run something, were they unpickled.


class Reduced:
    """Pickles as a call."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._call = function, arguments

    def __reduce__(self) -> Any:
        return self._call


def evil_pickles(trace: Path) -> list[bytes]:
    """Pickles that write `trace` when unpickled, or try to go another way to code."""
    command = f"touch {trace}"
    python = f"open({str(trace)!r}, 'w')"
    shell = command.encode()
    whole = [
        pickle.dumps(thing, protocol)
        for protocol in range(6)
        for thing in (
            Reduced(subprocess.getoutput, command),
            Reduced(eval, python),
            Reduced(exec, python),
            Reduced(getattr, Reduced(__import__, "os"), "system"),
            [Reduced(subprocess.getoutput, command)],
            {"a": Reduced(subprocess.getoutput, command)},
            (Reduced(subprocess.getoutput, command), 1),
        )
    ]
    by_hand = [
        b"cos\nsystem\nX" + struct.pack("<I", len(shell)) + shell + b"\x85R.",
        b"(S'" + shell + b"'\nios\nsystem\n.",
        b"(cos\nsystem\nS'" + shell + b"'\no.",
        b"c__builtin__\neval\n(S'1'\ntR.",
        b"cposix\nsystem\nq\0h\0X" + struct.pack("<I", len(shell)) + shell + b"\x85R.",
        b"X\x02\0\0\0osX\x06\0\0\0system\x93X" + struct.pack("<I", len(shell)) + shell + b"\x85R.",
        b"\x82\x01.",  # EXT1
        b"\x83\x01\0.",  # EXT2
        b"\x84\x01\0\0\0.",  # EXT4
        b"ctorch._utils\n_rebuild_tensor_v2\n)\x81.",  # NEWOBJ
        b"ccollections\nOrderedDict\n)R}b.",  # BUILD
        b"ccollections\nOrderedDict\n)R(X\x01\0\0\0aK\1u.",  # SETITEMS
        b"ctorch._utils\nsys\n.",
        b"ctorch._utils\n_rebuild_tensor_v2.__globals__\n.",
        b"ctorch\n_utils._rebuild_tensor_v2\n)R.",
        b"ccollections\nOrderedDict\n(K\1tR.",
        b"Pos\n.",  # PERSID
        b"\x96" + b"\xff" * 8 + b".",  # BYTEARRAY8
        b"\x8b\xff\xff\xff\x7f.",  # LONG4
        b"L" + b"9" * 5000 + b"L\n.",
    ]
    return [*whole, *(b"\x80\x02" + body for body in by_hand), *by_hand]


def test_a_pickle_that_would_run_something_is_refused_and_nothing_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "it-ran"
    evil = evil_pickles(trace)
    for body in evil:
        for data in (body, with_entry("data.pkl", body), body + REAL):
            refused(data)
        # Before, within and after the pickle of a real tensor.
        core = body.removeprefix(b"\x80\x02").removesuffix(b".")
        for data in (
            PICKLE[:2] + core + b"0" + PICKLE[2:],
            PICKLE[:2] + core + PICKLE[2:],
            PICKLE[:-1] + core + b".",
            PICKLE + body,
        ):
            refused(with_entry("data.pkl", data))
    assert not trace.exists()
    # The trap is a real one.
    pickle.loads(evil[0])
    assert trace.exists()


def test_the_reader_has_nothing_at_hand_that_imports_or_calls() -> None:
    source = Path(tensor_pickle.__file__).read_text(encoding="utf-8")
    for word in ("import_module", "__import__", "eval(", "exec(", "getattr(", "import pickle"):
        assert word not in source


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x80",
        b"\x80\x02",
        b"\x80\x02.",
        b"\x80\x02t.",
        b"\x80\x02R.",
        b"\x80\x02Q.",
        b"\x80\x02)R.",
        b"\x80\x02q\0.",
        b"\x80\x02h\0.",
        b"\x80\x02\x87.",
        b"\x80\x02K\1.",
        b"\x80\x02X\xff\xff\xff\xffa.",
        b"\x80\x02X\1\0\0\0\xff.",
        b"\x80\x02ctorch\nFloatStorage.",
        b"\x80\x02ctorch\nFloatStorage\n.",
        b"\x80\x02" + b"(" * 10_000 + b"t" * 10_000 + b".",
        b"\x80\x02)" + b"\x85" * 16_000 + b".",
        b"\x80\x02)q\0" + b"h\0h\0\x86q\0" * 2_000 + b"Q.",
        b"\x80\x02" + b"K\1" * 20_000 + b".",
        PICKLE[:-1],
        PICKLE + b".",
        PICKLE[:-1] + b"K\1.",
        b"\x80\x02K\1" + PICKLE[2:],
    ],
)
def test_a_pickle_that_is_cut_short_or_nested_or_too_long_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        read_tensor_pickle(body)


def changed(old: bytes, new: bytes) -> bytes:
    assert PICKLE.count(old) == 1
    return with_entry("data.pkl", PICKLE.replace(old, new))


COUNT = b"q\x04K\x18tq"
PLACE = b"QK\x00K\x04K\x01K\x06\x87"
STRIDES = b"q\x06K\x06K\x06K\x01\x87"


@pytest.mark.parametrize(
    "data",
    [
        changed(COUNT, b"q\x04K\x19tq"),
        with_entry("data/0", struct.pack("<25f", *NUMBERS, 0.0)),
        changed(b")Rq", b"K\x01\x85Rq"),
        changed(b"ccollections\nOrderedDict\nq\x08)Rq", b"K\x00q"),
        changed(b"X\x03\0\0\0cpu", b"X\x00\x50\0\0" + b"c" * 0x5000),
        changed(COUNT, b"q\x04K\x00tq"),
        changed(COUNT, b"q\x04J\xff\xff\xff\xfftq"),
        changed(COUNT, b"q\x04J" + struct.pack("<i", VALUES_LIMIT + 1) + b"tq"),
        archive_of(
            {
                name: data.replace(b"q\x04K\x01tq", b"q\x04\x88tq")
                for name, data in entries_of("scalar").items()
            }
        ),
        changed(b"X\x01\0\0\x000", b"X\x01\0\0\x001"),
        changed(b"X\x01\0\0\x000", b"X\x09\0\0\x00../../etc"),
        changed(b"X\x01\0\0\x000", b"X\x0b\0\0\x00../data.pkl"),
        changed(b"X\x01\0\0\x000", b"K\x00"),
        changed(b"X\x07\0\0\0storage", b"X\x07\0\0\0garbage"),
        changed(b"FloatStorage", b"LongStorage"),
        changed(b"FloatStorage", b"DoubleStorage"),
        changed(b"ctorch\nFloatStorage\n", b"ccollections\nOrderedDict\n"),
        changed(PLACE, PLACE.replace(b"QK\x00", b"QK\x01")),
        changed(PLACE, PLACE.replace(b"QK\x00", b"QJ\xff\xff\xff\xff")),
        changed(PLACE, PLACE.replace(b"QK\x00", b"Q\x89")),
        changed(PLACE, PLACE.replace(b"K\x04", b"K\x05")),
        changed(PLACE, PLACE.replace(b"K\x04", b"K\x00")),
        changed(PLACE, PLACE.replace(b"K\x04", b"J\xff\xff\xff\xff")),
        changed(PLACE, PLACE.replace(b"K\x04", b"\x88")),
        changed(PLACE, PLACE.replace(b"K\x04K\x01K\x06\x87", b"K\x04K\x06\x86")),
        changed(STRIDES, STRIDES.replace(b"K\x01", b"K\x02")),
        changed(STRIDES, STRIDES.replace(b"K\x01", b"J\xff\xff\xff\xff")),
    ],
)
def test_a_tensor_that_does_not_lie_in_its_storage_is_refused(data: bytes) -> None:
    refused(data)


def test_a_storage_is_bounded_though_the_file_holds_it() -> None:
    entries = entries_of("float16")
    body = entries["float16/data.pkl"]
    assert COUNT in body
    count = b"q\x04J" + struct.pack("<i", VALUES_LIMIT + 1) + b"tq"
    entries["float16/data.pkl"] = body.replace(COUNT, count)
    entries["float16/data/0"] = bytes(2 * (VALUES_LIMIT + 1))
    refused(archive_of(entries))


def test_a_small_storage_cannot_be_expanded_without_bound() -> None:
    shape = b"J" + struct.pack("<i", 1 << 30) + b"K\x01K\x06\x87"
    body = PICKLE.replace(PLACE, b"QK\x00" + shape).replace(STRIDES, b"q\x06K\0K\0K\0\x87")
    refused(with_entry("data.pkl", body))


# Archives that are no archive of torch's.


def test_a_compressed_archive_is_refused_however_small_its_contents() -> None:
    refused(archive_of(entries_of("float32"), zipfile.ZIP_DEFLATED))


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    entries = entries_of("float32") | {"float32/data/0": b"\0" * 4_000_000}
    bomb = archive_of(entries, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 8_000
    refused(bomb)


def test_an_archive_of_many_entries_is_refused_before_they_are_listed() -> None:
    refused(archive_of({f"float32/{number}": b"" for number in range(100)} | entries_of("float32")))


@pytest.mark.parametrize("name", ["data.pkl", "data/0"])
def test_an_archive_without_an_entry_it_needs_is_refused(name: str) -> None:
    entries = entries_of("float32")
    del entries[f"float32/{name}"]
    refused(archive_of(entries))


def test_an_archive_with_two_pickles_or_two_entries_of_a_name_is_refused() -> None:
    refused(archive_of(entries_of("float32") | {"other/data.pkl": PICKLE}))
    file = io.BytesIO(REAL)
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("float32/data.pkl", PICKLE)
    refused(file.getvalue())


def test_an_entry_that_claims_more_than_the_file_has_is_refused() -> None:
    claimed = struct.pack("<2I", 96, 96)
    assert REAL.count(claimed) == 2
    refused(REAL.replace(claimed, struct.pack("<2I", 1 << 30, 1 << 30)))


def test_damage_to_the_numbers_is_seen() -> None:
    numbers = struct.pack("<24f", *NUMBERS)
    assert REAL.count(numbers) == 1
    refused(REAL.replace(numbers, numbers[::-1]))


@given(st.binary() | st.binary().map(lambda tail: b"PK\x03\x04" + tail))
def test_any_bytes_are_refused(data: bytes) -> None:
    refused(data)


@given(st.binary(max_size=60))
def test_any_pickle_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        read_tensor_pickle(b"\x80\x02" + body)


OPCODES = st.sampled_from([bytes([opcode]) for opcode in b"(ctXJMKqhQR).\x85\x86\x87\x88\x89"])
OPERANDS = st.sampled_from([b"\0", b"\1", b"X\1\0\0\0" + b"0", b"torch\nFloatStorage\n"])


@given(st.lists(OPCODES | OPERANDS, max_size=200))
def test_any_program_of_the_known_instructions_is_refused(steps: list[bytes]) -> None:
    with pytest.raises(BadRequest):
        read_tensor_pickle(b"\x80\x02" + b"".join(steps))


@given(st.data())
def test_a_real_file_with_bytes_changed_is_read_or_refused(data: st.DataObject) -> None:
    real = bytearray(REAL)
    for _ in range(data.draw(st.integers(1, 4))):
        real[data.draw(st.integers(0, len(real) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(real)) | st.just(len(real)))
    try:
        read_voicepack(bytes(real[:cut]))
    except BadRequest as refusal:
        assert len(refusal.message) < 300
