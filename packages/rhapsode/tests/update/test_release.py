"""What an answer tells, and which version is newer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode.update.release import NoAnswer, is_newer, read_release

from .site import PAGE, released

PART = st.integers(0, 10**9 - 1)


def test_a_release_is_its_tag_and_its_page() -> None:
    release = read_release(released("v0.2.0"))
    assert (release.tag, release.version, release.page) == ("v0.2.0", "0.2.0", PAGE + "v0.2.0")


def test_a_tag_that_is_no_version_stands_for_itself() -> None:
    assert read_release(released("vintage")).version == "vintage"


@pytest.mark.parametrize(
    ("latest", "ours", "expected"),
    [
        ("v0.2.0", "0.1.9", True),
        ("0.2.0", "0.1.9", True),
        ("v0.1.10", "0.1.9", True),
        ("v0.10.0", "0.9.9", True),
        ("v1.0.0", "0.99.99", True),
        ("v0.1.9", "0.1.9", False),
        ("v0.1.8", "0.1.9", False),
        ("v0.1.9", "0.1.10", False),
        ("v0.9.9", "1.0.0", False),
    ],
)
@pytest.mark.contract("9.update.compared")
def test_versions_are_compared_by_their_numbers(latest: str, ours: str, expected: bool) -> None:
    assert is_newer(latest, ours) is expected


@pytest.mark.parametrize(
    "text",
    ["", "v", "1", "1.2", "1.2.3.4", "1.2.3-rc.1", "1.2.3rc1", "1.2.3+local", "v1.2.x", "vv1.2.3"]
    + ["1.2.3\n", " 1.2.3", "-1.2.3", "1..3", "nightly", "\u0661.2.3", "9" * 5000 + ".0.0"],
)
@pytest.mark.contract("9.update.compared")
def test_what_is_no_release_version_is_neither_offered_nor_offered_anything(text: str) -> None:
    assert not is_newer(text, "0.1.0")
    assert not is_newer("999.0.0", text)


@given(st.tuples(PART, PART, PART), st.tuples(PART, PART, PART))
def test_of_two_versions_at_most_one_is_newer(
    one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    first, second = (".".join(map(str, parts)) for parts in (one, other))
    assert (is_newer(first, second), is_newer(second, first)) == (one > other, other > one)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>down for maintenance</html>",
        b"null",
        b"[]",
        b'"v0.2.0"',
        b"{}",
        b'{"tag_name": "v0.2.0"}',
        b"[" * 100_000,
        b"\xff\xfe",
        released(tag_name=7),
        released(tag_name=None),
        released(tag_name=""),
        released(tag_name="v0.2.0\nEvil: 1"),
        released(tag_name="v" * 101),
        released(html_url="javascript:alert(1)"),
        released(html_url="http://github.com/MaroonedSoftware/rhapsode"),
        released(html_url="https://github.com.evil.example/"),
        released(html_url="https://github.com/a b"),
        released(html_url="https://github.com/" + "a" * 501),
    ],
)
def test_an_answer_that_tells_of_no_release_is_none(body: bytes) -> None:
    with pytest.raises(NoAnswer):
        read_release(body)


@pytest.mark.parametrize("kind", ["draft", "prerelease"])
@pytest.mark.contract("9.update.no-prerelease")
def test_a_draft_or_a_prerelease_is_not_believed(kind: str) -> None:
    with pytest.raises(NoAnswer):
        read_release(released("v0.2.0", **{kind: True}))


@given(st.binary(max_size=200))
def test_whatever_comes_is_a_release_or_no_answer(body: bytes) -> None:
    try:
        read_release(body)
    except NoAnswer:
        return
