"""Who is admitted, over every combination of what a request can say of its sender."""

from collections.abc import Iterable
from itertools import product
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from rhapsode.api.guard.admission import Rules, Standing, admit
from rhapsode.settings.model import ManagementSettings

LOCAL, TOKEN, FORBIDDEN = Standing.LOCAL, Standing.TOKEN, Standing.FORBIDDEN

SECRET = "s3cret"
LISTED = "https://page.example:8443"
EVIL = "https://evil.example"
HERE, THERE = "127.0.0.1", "203.0.113.9"

Values = tuple[bytes, ...]


def rules(token: str | None = SECRET, origins: Iterable[str] = (LISTED,)) -> Rules:
    secret = None if token is None else SecretStr(token)
    return Rules.of(ManagementSettings(token=secret, origins=tuple(origins)), "Box.lan.example")


def standing(
    peer: str | None = HERE,
    *,
    host: Values = (b"localhost:8080",),
    origin: Values = (),
    forwarded_for: Values = (),
    forwarded: Values = (),
    authorization: Values = (),
    by: Rules | None = None,
) -> Standing:
    said = {
        b"host": host,
        b"user-agent": (b"a-test",),
        b"origin": origin,
        b"x-forwarded-for": forwarded_for,
        b"forwarded": forwarded,
        b"authorization": authorization,
    }
    headers = [(name, value) for name, values in said.items() for value in values]
    return admit(peer, headers, by or rules()).standing


# Each axis: what comes, and whether it speaks for the caller.
PEERS: Final[dict[str | None, bool]] = {
    "127.0.0.1": True,
    "127.8.8.8": True,
    "::1": True,
    "::ffff:127.0.0.1": True,
    THERE: False,
    "::ffff:203.0.113.9": False,
    "2001:db8::9": False,
    "": False,
    None: False,
}
HOSTS: Final[dict[Values, bool]] = {
    (b"localhost:8080",): True,
    (b"192.168.1.5:8080",): True,
    (b"[::1]:8080",): True,
    (b"box:8080",): True,
    (b"BOX.lan.example",): True,
    (b"page.example",): True,
    (b"evil.example:8080",): False,
    (b"localhost", b"localhost"): False,
    (b"localhost", b"evil.example"): False,
    (b"\xff",): False,
    (b"",): False,
    (): False,
}
HOPS: Final[dict[Values, bool]] = {
    (): True,
    (b"127.0.0.1",): True,
    (b"127.0.0.1, [::1]:9", b"::1"): True,
    (b"203.0.113.9",): False,
    (b"127.0.0.1, 203.0.113.9",): False,
    (b"203.0.113.9, 127.0.0.1",): False,
    (b"127.0.0.1", b"203.0.113.9"): False,
    (b"",): False,
    (b"unknown",): False,
}
ORIGINS: Final[dict[Values, bool]] = {
    (): True,
    (b"http://localhost",): True,
    (b"https://localhost:3000",): True,
    (b"http://127.0.0.1:5173",): True,
    (b"http://[::1]:1",): True,
    (LISTED.encode(),): True,
    (EVIL.encode(),): False,
    (b"null",): False,
    (b"",): False,
    (LISTED.encode(), LISTED.encode()): False,
    (b"http://localhost", EVIL.encode()): False,
}
CREDENTIALS: Final[dict[Values, bool]] = {
    (): False,
    (b"Bearer s3cret",): True,
    (b"bearer s3cret",): True,
    (b"Bearer wrong!",): False,
    (b"Bearer s3cret", b"Bearer s3cret"): False,
}


@pytest.mark.parametrize("token", [SECRET, "", None])
def test_every_combination_is_judged_by_the_same_few_rules(token: str | None) -> None:
    """An `Origin` that is not admitted outweighs all; then locality, with a good `Host`; then the
    token."""
    by = rules(token)
    for peer, host, hops, origin, credentials in product(
        PEERS.items(), HOSTS.items(), HOPS.items(), ORIGINS.items(), CREDENTIALS.items()
    ):
        if not origin[1]:
            expected = FORBIDDEN
        elif peer[1] and host[1] and hops[1]:
            expected = LOCAL
        elif token and credentials[1]:
            expected = TOKEN
        else:
            expected = FORBIDDEN
        found = standing(
            peer[0],
            host=host[0],
            forwarded_for=hops[0],
            origin=origin[0],
            authorization=credentials[0],
            by=by,
        )
        assert found is expected, (peer, host, hops, origin, credentials)


# --- Locality -----------------------------------------------------------------------------------


@pytest.mark.contract("10.guard.local", "10.guard.stranger")
@pytest.mark.parametrize(("peer", "is_here"), PEERS.items())
def test_a_loopback_peer_is_local_and_any_other_is_not(peer: str | None, is_here: bool) -> None:
    assert standing(peer) is (LOCAL if is_here else FORBIDDEN)
    assert standing(peer, by=rules(None, ())) is (LOCAL if is_here else FORBIDDEN)


@pytest.mark.contract("10.guard.forwarded")
@pytest.mark.parametrize(("hops", "are_here"), HOPS.items())
def test_a_client_of_a_proxy_here_is_local_if_every_address_is(
    hops: Values, are_here: bool
) -> None:
    assert standing("127.0.0.1", forwarded_for=hops) is (LOCAL if are_here else FORBIDDEN)
    assert standing("::1", forwarded_for=hops) is (LOCAL if are_here else FORBIDDEN)
    shown = (b"Bearer s3cret",)
    expected = LOCAL if are_here else TOKEN
    assert standing(forwarded_for=hops, authorization=shown) is expected


@pytest.mark.contract("10.guard.forwarded-distrusts")
@pytest.mark.parametrize("peer", [THERE, "2001:db8::9", None])
@pytest.mark.parametrize("hops", HOPS)
def test_no_forwarding_header_makes_a_stranger_local(peer: str | None, hops: Values) -> None:
    assert standing(peer, forwarded_for=hops) is FORBIDDEN


@pytest.mark.contract("10.guard.forwarded-distrusts")
@given(hops=st.lists(st.binary(max_size=40), max_size=3), peer=st.sampled_from([HERE, THERE]))
def test_no_forwarding_header_ever_raises_a_callers_standing(hops: list[bytes], peer: str) -> None:
    without, found = standing(peer), standing(peer, forwarded_for=tuple(hops))
    assert found is without or found is FORBIDDEN


@pytest.mark.contract("10.guard.forwarded-standard")
@pytest.mark.parametrize("value", [b"for=127.0.0.1", b"for=203.0.113.9", b""])
def test_who_is_forwarded_by_the_standards_header_needs_the_token(value: bytes) -> None:
    assert standing(forwarded=(value,)) is FORBIDDEN
    assert standing(forwarded=(value,), authorization=(b"Bearer s3cret",)) is TOKEN


@pytest.mark.contract("10.guard.host")
@pytest.mark.parametrize(("host", "is_ours"), HOSTS.items())
def test_who_is_local_without_a_token_names_this_machine(host: Values, is_ours: bool) -> None:
    assert standing(host=host) is (LOCAL if is_ours else FORBIDDEN)
    expected = LOCAL if is_ours else TOKEN
    assert standing(host=host, authorization=(b"Bearer s3cret",)) is expected
    assert standing(THERE, host=host, authorization=(b"Bearer s3cret",)) is TOKEN


def test_a_machine_without_a_name_is_called_by_none() -> None:
    by = Rules.of(ManagementSettings(), "")
    assert standing(host=(b"",), by=by) is FORBIDDEN
    assert standing(host=(b"localhost",), by=by) is LOCAL


# --- The token ----------------------------------------------------------------------------------


@pytest.mark.contract("10.guard.token")
@pytest.mark.parametrize(
    "value", [b"Bearer s3cret", b"bearer s3cret", b"BEARER  s3cret", b" Bearer s3cret \t"]
)
def test_the_token_admits_from_anywhere(value: bytes) -> None:
    assert standing(THERE, authorization=(value,)) is TOKEN


@pytest.mark.contract("10.guard.token", "10.guard.stranger")
@pytest.mark.parametrize(
    "values",
    [
        (b"",),
        (b"Bearer",),
        (b"Bearer ",),
        (b"s3cret",),
        (b"Basic s3cret",),
        (b"Bearers3cret",),
        (b"Bearer\ts3cret",),
        (b"Bearer S3CRET",),
        (b"Bearer s3cre",),
        (b"Bearer s3crets",),
        (b"Bearer s3cret,",),
        (b"Bearer s3cret s3cret",),
        (b'Bearer "s3cret"',),
        (b"Bearer s3cret\xff",),
        (b"Bearer \xff",),
        (b"Bearer s3cret", b"Bearer s3cret"),
        (b"Bearer wrong", b"Bearer s3cret"),
        (b"Bearer s3cret", b""),
    ],
)
def test_anything_but_the_token_once_is_not_the_token(values: Values) -> None:
    assert standing(THERE, authorization=values) is FORBIDDEN


@pytest.mark.contract("10.guard.token")
@pytest.mark.parametrize("token", [None, ""])
@pytest.mark.parametrize("value", [b"Bearer", b"Bearer ", b"Bearer s3cret", b"Bearer None", b""])
def test_no_token_and_an_empty_one_admit_nobody(token: str | None, value: bytes) -> None:
    assert standing(THERE, authorization=(value,), by=rules(token)) is FORBIDDEN


def test_a_token_beyond_ascii_is_compared_as_utf_8() -> None:
    by = rules("sésame")
    assert standing(THERE, authorization=("Bearer sésame".encode(),), by=by) is TOKEN
    assert standing(THERE, authorization=("Bearer sésame".encode("latin-1"),), by=by) is FORBIDDEN


@given(st.binary(max_size=40))
def test_no_other_bytes_are_the_token(value: bytes) -> None:
    scheme, _, rest = value.strip(b" \t").partition(b" ")
    is_token = scheme.lower() == b"bearer" and rest.strip(b" ") == b"s3cret"
    assert standing(THERE, authorization=(value,)) is (TOKEN if is_token else FORBIDDEN)


@pytest.mark.contract("10.guard.local")
def test_a_wrong_token_costs_a_local_caller_nothing() -> None:
    assert standing(authorization=(b"Bearer wrong",)) is LOCAL


@pytest.mark.contract("10.guard.token-hidden")
@pytest.mark.parametrize("shown", [(), ((b"authorization", b"Bearer wrong"),)])
def test_a_refusal_says_nothing_of_whether_a_token_is_set(
    shown: tuple[tuple[bytes, bytes], ...],
) -> None:
    with_token = admit(THERE, [(b"host", b"box"), *shown], rules(SECRET))
    without = admit(THERE, [(b"host", b"box")], rules(None))
    assert with_token == without


def test_the_rules_do_not_show_the_token() -> None:
    assert SECRET not in repr(rules())


# --- Pages --------------------------------------------------------------------------------------


@pytest.mark.contract("10.guard.origin-own")
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
@pytest.mark.parametrize("port", ["", ":1", ":3000", ":65535"])
def test_pages_of_this_machine_may_manage(scheme: str, host: str, port: str) -> None:
    origin = f"{scheme}://{host}{port}".encode()
    assert standing(origin=(origin,), by=rules(None, ())) is LOCAL


@pytest.mark.contract("10.guard.origin-foreign", "10.guard.origin-with-token")
@pytest.mark.parametrize(
    "values",
    [
        (b"https://evil.example",),
        (b"http://localhost.evil.example",),
        (b"http://evil.example#localhost",),
        (b"http://localhost@evil.example",),
        (b"http://127.0.0.1.evil.example",),
        (b"http://127.0.0.2",),
        (b"http://0.0.0.0",),
        (b"http://[::ffff:7f00:1]",),
        (b"http://192.168.1.5:8080",),
        (b"http://box:8080",),
        (b"localhost",),
        (b"ftp://localhost",),
        (b"file://",),
        (b"chrome-extension://abcdef",),
        (b"http://localhost/",),
        (b"http://localhost:",),
        (b"http://localhost:123456",),
        (b"http://localhost\n",),
        (b"http://localhost, https://evil.example",),
        (b"http://localhost https://evil.example",),
        (b"null",),
        (b"",),
        (b"\xff",),
        (b"http://localhost", b"http://localhost"),
        (b"http://localhost", b"null"),
        (LISTED.encode(), b"https://evil.example"),
    ],
)
def test_other_pages_may_not_manage_from_here_nor_with_the_token(values: Values) -> None:
    assert standing(origin=values) is FORBIDDEN
    for peer in (HERE, THERE):
        assert standing(peer, origin=values, authorization=(b"Bearer s3cret",)) is FORBIDDEN


@pytest.mark.contract("10.guard.origin-listed")
def test_a_listed_page_may_manage_and_its_neighbours_may_not() -> None:
    assert standing(origin=(LISTED.encode(),)) is LOCAL
    assert standing(origin=(b"https://default.example",), by=rules(None, [])) is FORBIDDEN
    by = rules(None, ["https://default.example:443"])
    assert standing(origin=(b"https://default.example",), by=by) is LOCAL
    for neighbour in (
        "http://page.example:8443",
        "https://page.example",
        "https://page.example:8444",
        "https://sub.page.example:8443",
        "https://page.example:8443/",
        "HTTPS://page.example:8443",
    ):
        assert standing(origin=(neighbour.encode(),)) is FORBIDDEN


@pytest.mark.contract("10.guard.origin-no-passport")
@pytest.mark.parametrize("origin", [b"http://localhost:3000", LISTED.encode()])
def test_a_page_that_may_manage_is_judged_on_the_rest(origin: bytes) -> None:
    assert standing(THERE, origin=(origin,)) is FORBIDDEN
    assert standing(HERE, origin=(origin,), forwarded_for=(THERE.encode(),)) is FORBIDDEN
    assert standing(HERE, origin=(origin,), host=(b"evil.example",)) is FORBIDDEN
    assert standing(THERE, origin=(origin,), authorization=(b"Bearer s3cret",)) is TOKEN


@given(st.lists(st.binary(max_size=30), min_size=1, max_size=2))
def test_no_other_bytes_are_a_page_that_may_manage(values: list[bytes]) -> None:
    if not values[0].startswith(b"http"):
        assert standing(origin=tuple(values)) is FORBIDDEN
