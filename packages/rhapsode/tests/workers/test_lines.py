"""Lines out of pieces."""

from hypothesis import given
from hypothesis import strategies as st
from rhapsode.workers.lines import Lines


def fed(pieces: list[bytes], limit_bytes: int = 8) -> list[bytes]:
    lines = Lines(limit_bytes)
    return [line for piece in pieces for line in lines.feed(piece)] + lines.finish()


def test_a_line_in_several_pieces_is_one() -> None:
    assert fed([b"on", b"e\ntw", b"o\n", b"three"]) == [b"one", b"two", b"three"]


def test_blank_lines_are_left_out() -> None:
    assert fed([b"\n \none\n\n"]) == [b"one"]


def test_a_line_without_end_is_given_in_pieces_of_the_limit() -> None:
    lines = Lines(limit_bytes=4)
    assert lines.feed(b"abcdefghij") == [b"abcd", b"efgh"]
    assert lines.finish() == [b"ij"]


@given(st.lists(st.binary(max_size=40)))
def test_nothing_is_lost_and_no_line_is_over_the_limit(pieces: list[bytes]) -> None:
    lines = fed(pieces)
    assert all(len(line) <= 8 for line in lines)
    kept = b"".join(lines).translate(None, b" \t\r\n\x0b\x0c")
    assert kept == b"".join(pieces).translate(None, b" \t\r\n\x0b\x0c")
