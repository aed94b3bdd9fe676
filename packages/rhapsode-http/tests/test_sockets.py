"""Listening sockets: private, taken over from the dead, never from the living."""

import os
import socket
import stat
from pathlib import Path

import pytest
from rhapsode_http import SocketError, TcpAddress, UnixAddress, bind


def connect(family: socket.AddressFamily, host: str, port: int) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(5)
        client.connect((host, port))


@pytest.mark.contract("d.sockets.private")
def test_a_unix_socket_is_private_in_a_private_folder(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "s.sock"
    with bind(UnixAddress(path)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.exists()


def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(SocketError, match="0755"):
        bind(UnixAddress(folder / "s.sock"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(SocketError, match="12345"):
        bind(UnixAddress(folder / "s.sock"))


def test_a_path_that_is_too_long_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(SocketError, match="longer than the 10[37] bytes"):
        bind(UnixAddress(tmp_path / ("x" * 108)))


def test_the_socket_of_a_dead_process_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mine" / "s.sock"
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with bind(UnixAddress(path)), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_a_socket_that_answers_is_left_alone(tmp_path: Path) -> None:
    address = UnixAddress(tmp_path / "mine" / "s.sock")
    with bind(address):
        with pytest.raises(SocketError, match="another process"):
            bind(address)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(address.path))


def test_a_socket_whose_backlog_is_full_counts_as_answering(tmp_path: Path) -> None:
    address = UnixAddress(tmp_path / "mine" / "s.sock")
    with bind(address, backlog=0), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(address.path))
        with pytest.raises(SocketError, match="another process"):
            bind(address)


def test_a_file_in_the_way_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "mine" / "s.sock"
    path.parent.mkdir(mode=0o700)
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(SocketError, match="not a socket"):
        bind(UnixAddress(path))
    assert path.read_text(encoding="utf-8") == "precious"


def test_closing_removes_only_the_file_we_made(tmp_path: Path) -> None:
    path = tmp_path / "mine" / "s.sock"
    bound = bind(UnixAddress(path))
    path.unlink()
    path.write_text("somebody else's", encoding="utf-8")
    bound.close()
    bound.close()
    assert path.exists()


def test_a_port_of_zero_becomes_a_real_one() -> None:
    with bind(TcpAddress("127.0.0.1", 0)) as bound:
        assert isinstance(bound.address, TcpAddress)
        assert bound.address.port != 0
        connect(socket.AF_INET, "127.0.0.1", bound.address.port)


def test_the_any_address_of_ipv6_takes_ipv4_as_well() -> None:
    with bind(TcpAddress("::", 0)) as bound:
        assert isinstance(bound.address, TcpAddress)
        assert bound.address.host == "::"
        assert len(bound.sockets) == 1
        connect(socket.AF_INET, "127.0.0.1", bound.address.port)
        connect(socket.AF_INET6, "::1", bound.address.port)


def test_without_ipv6_the_any_address_is_that_of_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "has_ipv6", False)
    with bind(TcpAddress("::", 0)) as bound:
        assert isinstance(bound.address, TcpAddress)
        assert bound.address.host == "0.0.0.0"
        connect(socket.AF_INET, "127.0.0.1", bound.address.port)


def test_a_name_takes_all_its_addresses_on_one_port() -> None:
    found = {where[4][0] for where in socket.getaddrinfo("localhost", None)}
    with bind(TcpAddress("localhost", 0)) as bound:
        assert {each.getsockname()[0] for each in bound.sockets} == found
        assert len({each.getsockname()[1] for each in bound.sockets}) == 1


def test_a_port_in_use_is_one_clear_error() -> None:
    with bind(TcpAddress("127.0.0.1", 0)) as bound:
        assert isinstance(bound.address, TcpAddress)
        for host in ("127.0.0.1", "::"):
            with pytest.raises(SocketError, match=f"port {bound.address.port} is in use"):
                bind(TcpAddress(host, bound.address.port))


def test_an_unknown_host_is_refused_in_words() -> None:
    with pytest.raises(SocketError, match="nowhere.invalid"):
        bind(TcpAddress("nowhere.invalid", 0))


def test_sockets_are_not_inherited() -> None:
    with bind(TcpAddress("localhost", 0)) as bound:
        assert not any(each.get_inheritable() for each in bound.sockets)
