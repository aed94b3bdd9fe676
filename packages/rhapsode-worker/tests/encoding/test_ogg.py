"""Ogg streams renumbered, page by page, with ffmpeg as the judge of the whole."""

import random
from collections.abc import Awaitable, Callable
from itertools import pairwise
from struct import pack, unpack_from

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_worker.encoding.encoder import Encoder
from rhapsode_worker.encoding.ogg import NotOgg, SteadySerial, checksum
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.native_format import NativeFormat

Sine = Callable[[NativeFormat, float], bytes]
RunEncoder = Callable[[Encoder, bytes, int], Awaitable[list[bytes]]]
Decode = Callable[[str, NativeFormat, bytes], Awaitable[bytes]]

HEAD_BYTES = 27


def plain_checksum(data: bytes) -> int:
    """Ogg's checksum as RFC 3533 tells it, bit by bit."""
    register = 0
    for byte in data:
        register ^= byte << 24
        for _ in range(8):
            register = (register << 1) ^ (0x04C1_1DB7 if register & 0x8000_0000 else 0)
            register &= 0xFFFF_FFFF
    return register


def page(number: int, payload: bytes, serial: int = 77, flags: int = 0, granule: int = 0) -> bytes:
    table = bytes([255] * (len(payload) // 255) + [len(payload) % 255])
    head = pack("<4sBBqIIIB", b"OggS", 0, flags, granule, serial, number, 0, len(table))
    blank = head + table + payload
    return blank[:22] + pack("<I", plain_checksum(blank)) + blank[26:]


def stream(first_audio: bytes, serial: int = 77) -> list[bytes]:
    """A stream of two headers, a first page of audio, and four more pages."""
    payloads = [b"OpusHead", b"OpusTags" * 90, first_audio, b"b" * 700, b"", b"c" * 255, b"d"]
    return [page(number, payload, serial) for number, payload in enumerate(payloads)]


def parsed(ogg: bytes) -> list[tuple[int, int, bool, bytes]]:
    """The pages of a stream: serial, number, whether the checksum holds, payload."""
    pages: list[tuple[int, int, bool, bytes]] = []
    while ogg:
        assert ogg.startswith(b"OggS")
        serial, number, said, segments = unpack_from("<IIIB", ogg, 14)
        begin = HEAD_BYTES + segments
        end = begin + sum(ogg[HEAD_BYTES:begin])
        assert len(ogg) >= end
        is_right = said == plain_checksum(ogg[:22] + bytes(4) + ogg[26:end])
        pages.append((serial, number, is_right, ogg[begin:end]))
        ogg = ogg[end:]
    return pages


@given(st.binary(max_size=600))
def test_the_checksum_is_the_one_of_the_rfc(data: bytes) -> None:
    assert checksum(data) == plain_checksum(data)


def test_a_stream_keeps_all_but_its_serial_number() -> None:
    pages = stream(b"a" * 300)
    renumbered = SteadySerial().renumber(b"".join(pages))
    before, after = parsed(b"".join(pages)), parsed(renumbered)
    assert len({serial for serial, *_ in after}) == 1
    assert after[0][0] != 77
    assert all(is_right for _, _, is_right, _ in after)
    assert [(number, payload) for _, number, _, payload in after] == [
        (number, payload) for _, number, _, payload in before
    ]


def test_the_number_is_one_of_the_audio_and_not_of_the_lot() -> None:
    def renumbered(audio: bytes, serial: int) -> bytes:
        return SteadySerial().renumber(b"".join(stream(audio, serial)))

    assert renumbered(b"one", 1) == renumbered(b"one", 2)
    assert parsed(renumbered(b"one", 1))[0][0] != parsed(renumbered(b"two", 1))[0][0]


@given(st.lists(st.integers(0, 3000), max_size=12))
def test_how_the_bytes_come_makes_no_difference(cuts: list[int]) -> None:
    whole = b"".join(stream(b"a" * 300))
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    serial = SteadySerial()
    came = [serial.renumber(whole[begin:end]) for begin, end in pairwise(places)]
    assert b"".join(came) == SteadySerial().renumber(whole)
    assert not serial.holds_back


def test_nothing_leaves_before_the_first_page_of_audio_is_whole() -> None:
    pages = stream(b"a" * 300)
    serial = SteadySerial()
    assert serial.renumber(pages[0] + pages[1] + pages[2][:-1]) == b""
    assert serial.holds_back
    assert len(parsed(serial.renumber(pages[2][-1:] + pages[3][:-1]))) == 3
    assert serial.holds_back
    assert len(parsed(serial.renumber(pages[3][-1:]))) == 1
    assert not serial.holds_back


@pytest.mark.parametrize("junk", [b"RIFF", b"Og!", b"x"])
def test_what_is_no_page_is_said_to_be_none(junk: bytes) -> None:
    with pytest.raises(NotOgg):
        SteadySerial().renumber(b"".join(stream(b"a")) + junk)


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("seconds", [1 / 24_000, 0.3, 4.0], ids=["a sample", "short", "long"])
@pytest.mark.parametrize("buffered", [False, True], ids=["streamed", "buffered"])
async def test_what_libsndfile_writes_is_whole_and_decodes(
    buffered: bool,
    seconds: float,
    pool: EncoderPool,
    sine: Sine,
    run_encoder: RunEncoder,
    decode: Decode,
) -> None:
    native = NativeFormat()
    noise = random.Random(1).randbytes(2 * round(12_000 * seconds))
    pcm = sine(native, seconds / 2) + noise or bytes(2)
    async with pool.encoder("opus", native, buffered=buffered) as encoder:
        encoded = b"".join(await run_encoder(encoder, pcm, 5_000))
    pages = parsed(encoded)
    assert len({serial for serial, *_ in pages}) == 1
    assert [number for _, number, _, _ in pages] == list(range(len(pages)))
    assert all(is_right for _, _, is_right, _ in pages)
    assert abs(len(await decode("opus", native, encoded)) - len(pcm)) <= 2 * 24
