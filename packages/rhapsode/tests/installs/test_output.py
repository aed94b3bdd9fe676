"""Printed lines as a person sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode.installs.output import LINE_CHARACTERS, readable


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (b"plain", "plain"),
        ("  ╰─> it".encode(), "  ╰─> it"),
        (b"\x1b[1;31mred\x1b[0m and \x1b[Kclean", "red and clean"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x07 and title", "link and title"),
        (b" 10%\r 50%\r100%", "100%"),
        (b" 10%\r 50%\r", " 50%"),
        (b"line\r", "line"),
        (b"caf\xe9", "caf�"),
        (b"a\x00b\x07c\x7f", "abc"),
        (b"\tindented", "        indented"),
        (b"   \r  ", ""),
        (b"cut\x1b[", "cut"),
    ],
)
def test_only_what_was_to_be_read_stays(line: bytes, seen: str) -> None:
    assert readable(line) == seen


def test_a_long_line_is_cut() -> None:
    assert len(readable(b"x" * 100_000)) == LINE_CHARACTERS + 1


@given(st.binary(max_size=300))
def test_whatever_is_printed_is_one_line_of_printable_text(line: bytes) -> None:
    text = readable(line)
    assert len(text.splitlines()) <= 1
    assert "\x1b" not in text
    assert len(text) <= LINE_CHARACTERS + 1
