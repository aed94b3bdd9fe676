"""Messages survive being cut anywhere; what is no message is refused."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_worker.encoding.encoder import FrameAligner
from rhapsode_worker.encoding.framing import (
    MAX_PAYLOAD_BYTES,
    FramingError,
    Kind,
    Unpacker,
    pack,
    pieces,
)

messages = st.lists(st.tuples(st.sampled_from(Kind), st.binary(max_size=300)), max_size=20)


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    """Returns `data` in runs of `sizes`, and the rest."""
    runs: list[bytes] = []
    for size in sizes:
        runs.append(data[:size])
        data = data[size:]
    return [*runs, data]


@given(messages, st.lists(st.integers(0, 50), max_size=50))
def test_messages_come_out_as_they_went_in(
    sent: list[tuple[Kind, bytes]], sizes: list[int]
) -> None:
    unpacker = Unpacker()
    wire = b"".join(pack(kind, payload) for kind, payload in sent)
    assert [m for run in cut(wire, sizes) for m in unpacker.feed(run)] == sent


@pytest.mark.parametrize("head", [(0, 0), (99, 0), (Kind.DATA, MAX_PAYLOAD_BYTES + 1)])
def test_what_is_no_message_is_refused(head: tuple[int, int]) -> None:
    with pytest.raises(FramingError):
        list(Unpacker().feed(struct.pack(">BI", *head)))


def test_a_payload_too_long_is_never_sent() -> None:
    with pytest.raises(ValueError, match="65537"):
        pack(Kind.PCM, bytes(MAX_PAYLOAD_BYTES + 1))


@given(st.binary(max_size=500), st.integers(1, 100))
def test_pieces_joined_are_the_whole(payload: bytes, piece_bytes: int) -> None:
    runs = list(pieces(payload, piece_bytes))
    assert b"".join(runs) == payload
    assert all(0 < len(run) <= piece_bytes for run in runs)


@given(st.binary(max_size=200), st.lists(st.integers(0, 9), max_size=50), st.sampled_from([2, 4]))
def test_an_aligner_gives_whole_frames_and_loses_none(
    pcm: bytes, sizes: list[int], bytes_per_frame: int
) -> None:
    aligner = FrameAligner(bytes_per_frame)
    frames = [aligner.align(run) for run in cut(pcm, sizes)]
    assert all(len(run) % bytes_per_frame == 0 for run in frames)
    assert b"".join(frames) == pcm[: len(pcm) - len(pcm) % bytes_per_frame]
