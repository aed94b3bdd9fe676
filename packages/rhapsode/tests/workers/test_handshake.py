"""The line a worker says when it is ready."""

import json
from pathlib import Path

import pytest
from rhapsode.workers.handshake import looks_like_handshake, read_handshake
from rhapsode_contract import Internal
from rhapsode_http import Address, TcpAddress, UnixAddress

SOCKET = UnixAddress(Path("/s/tone.sock"))


def line(**changes: object) -> bytes:
    fields: dict[str, object] = {
        "ready": True,
        "contract": 1,
        "engine": "tone",
        "listen": "unix:/s/tone.sock",
    }
    return json.dumps(fields | changes).encode()


def read(said: bytes, listen: Address = SOCKET) -> Address:
    return read_handshake(said, engine="tone", listen=listen)


def test_a_good_one_says_where_the_worker_is() -> None:
    assert read(line()) == SOCKET


@pytest.mark.contract("9.additive.reader")
def test_a_field_that_is_new_to_us_is_ignored() -> None:
    assert read(line(flavour="mild")) == SOCKET


@pytest.mark.contract("9.refuse.too-high")
def test_a_contract_above_ours_is_refused_with_both_numbers() -> None:
    with pytest.raises(Internal, match=r"contract 7.*1"):
        read(line(contract=7))


@pytest.mark.contract("d.handshake.mismatch")
@pytest.mark.parametrize(
    "changes", [{"engine": "kokoro"}, {"listen": "unix:/s/other.sock"}, {"listen": "tcp:::1:9"}]
)
def test_one_that_names_another_engine_or_place_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(Internal):
        read(line(**changes))


@pytest.mark.parametrize("changes", [{"ready": False}, {"contract": None}, {"listen": 9}])
def test_one_of_another_shape_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(Internal):
        read(line(**changes))


def test_a_free_port_matches_any_port_of_the_same_host() -> None:
    free = TcpAddress("127.0.0.1", 0)
    assert read(line(listen="tcp:127.0.0.1:4123"), free) == TcpAddress("127.0.0.1", 4123)
    with pytest.raises(Internal):
        read(line(listen="tcp:127.0.0.2:4123"), free)


@pytest.mark.parametrize(
    "noise",
    [
        *(b"loading...", b"{}", b"[1]", b'{"rea', b'"ready"', b"17"),
        *(b"[" * 60_000, b'{"ready":' * 6_000, b"\xff{}"),
    ],
)
def test_noise_is_not_taken_for_one(noise: bytes) -> None:
    assert not looks_like_handshake(noise)
    assert looks_like_handshake(line())
