"""Addresses and host names in headers."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode.api.guard.addresses import are_all_loopback, is_loopback, is_own_host

NAMES = frozenset({"localhost", "box"})


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "127.255.255.254",
        "::1",
        "0:0:0:0:0:0:0:1",
        "::ffff:127.0.0.1",
        "::FFFF:127.3.2.1",
        "::ffff:7f00:1",
    ],
)
def test_what_is_loopback(text: str) -> None:
    assert is_loopback(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost",
        "0.0.0.0",
        "::",
        "10.0.0.1",
        "128.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::127.0.0.1",
        "2002:7f00:1::",
        "fe80::1",
        "::1%lo",
        "127.0.0.01",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "127.0.0.1 ",
        "127.0.0.1\n",
        "[::1]",
        "127.0.0.1:80",
        "\u0661\u0662\u0667.0.0.1",
    ],
)
def test_what_is_not_loopback(text: str) -> None:
    assert not is_loopback(text)


@pytest.mark.parametrize(
    "lists",
    [
        [],
        ["127.0.0.1"],
        ["127.0.0.1:52100"],
        ["::1"],
        ["[::1]"],
        ["[::1]:52100"],
        ["::ffff:127.0.0.1"],
        ["[::ffff:127.0.0.1]:1"],
        ["127.0.0.1,::1"],
        [" 127.0.0.1 ,\t::1 "],
        ["127.0.0.1", "::1, 127.9.9.9:65535"],
    ],
)
def test_hops_that_are_all_loopback(lists: list[str]) -> None:
    assert are_all_loopback(lists)


@pytest.mark.parametrize(
    "hop",
    [
        "",
        " ",
        "203.0.113.9",
        "203.0.113.9:80",
        "[2001:db8::1]",
        "[2001:db8::1]:80",
        "2001:db8::1",
        "::1:80",
        "unknown",
        "_hidden",
        "localhost",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:x",
        "127.0.0.1 203.0.113.9",
        "127.0.0.1;203.0.113.9",
        "[127.0.0.1]",
        "[::1",
        "::1]",
        "[::1]x",
        '"127.0.0.1"',
        "for=127.0.0.1",
        "127.0.0.1\0",
        "\xff",
    ],
)
def test_one_hop_that_is_not_loopback_is_enough_wherever_it_stands(hop: str) -> None:
    here = "127.0.0.1"
    for lists in ([hop], [hop, here], [here, hop], [f"{hop},{here}"], [f"{here}, {hop}"]):
        assert not are_all_loopback(lists), lists


def spellings(ip: IPv4Address | IPv6Address) -> list[str]:
    if isinstance(ip, IPv4Address):
        return [f"{ip}", f"{ip}:80", f" {ip}\t", f"::ffff:{ip}", f"[::ffff:{ip}]:80"]
    return [f"{ip}", f"[{ip}]", f"[{ip}]:80", ip.exploded, ip.compressed.upper()]


HOPS = st.one_of(
    st.ip_addresses(v=4),
    st.ip_addresses(v=4, network="127.0.0.0/8"),
    st.ip_addresses(v=6),
    st.just(IPv6Address("::1")),
)


@given(st.lists(HOPS.flatmap(lambda ip: st.tuples(st.just(ip), st.sampled_from(spellings(ip))))))
def test_hops_are_loopback_if_each_is_however_it_is_spelt(
    hops: list[tuple[IPv4Address | IPv6Address, str]],
) -> None:
    expected = all((getattr(ip, "ipv4_mapped", None) or ip).is_loopback for ip, _ in hops)
    assert are_all_loopback([text for _, text in hops]) is expected
    if hops:
        assert are_all_loopback([",".join(text for _, text in hops)]) is expected


@pytest.mark.parametrize(
    "authority",
    [
        "localhost",
        "localhost:8080",
        "LocalHost:8080",
        "box",
        "BOX:1",
        "127.0.0.1",
        "192.168.1.5:8080",
        "[::1]",
        "[::1]:8080",
        "[fd00::5]:8080",
    ],
)
def test_what_names_this_machine(authority: str) -> None:
    assert is_own_host(authority, NAMES)


@pytest.mark.parametrize(
    "authority",
    [
        "",
        ":8080",
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "localhost.",
        "127.0.0.1.evil.example",
        "127.1",
        "::1",
        "[127.0.0.1]",
        "[evil.example]",
        "[]",
        "localhost:",
        "localhost:65536",
        "localhost:80:80",
        "localhost:8080\n",
        "user@localhost",
        "localhost/",
        "localhost, evil.example",
        " localhost",
    ],
)
def test_what_does_not_name_this_machine(authority: str) -> None:
    assert not is_own_host(authority, NAMES)
