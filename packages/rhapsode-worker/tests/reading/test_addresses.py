"""Addresses are read with their signs in words."""

import pytest
from rhapsode_worker.reading.addresses import with_addresses_spoken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("https://example.com/", "example dot com"),
        ("www.example.com.", "W W W dot example dot com."),
        ("(http://a.io/x-y_z)", "(a dot IO slash x dash y underscore z)"),
        ("https://a.io/?q=1#top", "a dot IO slash question mark q equals 1 hash top"),
        ("https://en.example.org/A_(b).", "EN dot example dot org slash A underscore b."),
        ("https://a.com/%20x", "a dot com slash x"),
        ("example.co.uk, example.com:8080", "example dot CO dot UK, example dot com colon 8080"),
        ("joe.b+x@sub.example.com!", "joe dot b plus x at sub dot example dot com!"),
        ("mailto:a@b.org", "a at b dot org"),
        ("README.md and a-b.tar.", "README dot MD and a-b dot tar."),
        ("node.js", "node dot JS"),
    ],
)  # fmt: skip
def test_an_address_is_read_sign_by_sign(text: str, said: str) -> None:
    assert with_addresses_spoken(text) == said


@pytest.mark.parametrize(
    "text",
    ["e.g. this", "U.S.A.", "It ended.Then", "3.14", "see.it", "a@b", "@user", "p.m.", "://"],
)
def test_what_is_no_address_is_left_alone(text: str) -> None:
    assert with_addresses_spoken(text) == text
