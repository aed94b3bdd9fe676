"""The question itself: what it says of the box, and what can go wrong with the answer."""

import gzip
import os
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from rhapsode.update.asking import LATEST_RELEASE_URL

from .desk import open_desk
from .site import Reply, answer, open_site, released

pytestmark = pytest.mark.anyio


@pytest.mark.contract("9.update.github")
def test_it_is_our_repository_that_is_asked_for_its_latest_release() -> None:
    expected = "https://api.github.com/repos/MaroonedSoftware/rhapsode/releases/latest"
    assert expected == LATEST_RELEASE_URL


@pytest.mark.contract("9.update.user-agent")
async def test_all_that_is_said_of_the_box_is_rhapsode_and_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", os.fspath(netrc))
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    (tmp_path / ".netrc").write_bytes(netrc.read_bytes())
    async with open_site() as site, open_desk(site, version="0.1.9") as desk:
        await desk.updates.check()
    line, *fields = site.heads[0].decode().rstrip().split("\r\n")
    assert line == "GET /releases/latest HTTP/1.1"
    host = site.url.removeprefix("http://").partition("/")[0]
    assert dict(each.split(": ", 1) for each in fields) == {
        "Host": host,
        "User-Agent": "rhapsode/0.1.9",
        "Accept": "application/vnd.github+json",
        "Accept-Encoding": "identity",
        "Connection": "keep-alive",
    }


@pytest.mark.parametrize(
    "says",
    [
        answer(released(), "403 Forbidden"),
        answer(released(), "404 Not Found"),
        answer(released(), "429 Too Many Requests"),
        answer(released(), "500 Internal Server Error"),
        answer(b"", "204 No Content"),
        answer(released(), "203 Non-Authoritative Information"),
        answer(released(), "302 Found", "Location: http://[broken"),
        answer(b"<html></html>"),
        answer(released(draft=True)),
        answer(released(prerelease=True)),
        answer(gzip.compress(released()), "200 OK", "Content-Encoding: gzip"),
        answer(released())[:-10],
        answer(released())[:30],
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1_000_000 + b"\r\n\r\n",
    ],
)
@pytest.mark.contract("9.update.failed")
async def test_an_answer_that_is_none_is_a_failed_check_and_no_error(says: bytes) -> None:
    async with open_site(says) as site, open_desk(site) as desk:
        assert (await desk.updates.check()).check == "failed"


@pytest.mark.contract("9.update.failed")
async def test_a_host_that_nobody_reaches_is_a_failed_check() -> None:
    async with open_site() as site:
        pass
    async with open_desk(site) as desk:
        assert (await desk.updates.check()).check == "failed"


async def _trickle(stream: anyio.abc.ByteStream) -> None:
    await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        await stream.send(b" ")
        await anyio.sleep(0.01)


async def _trickled_head(stream: anyio.abc.ByteStream) -> None:
    await stream.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await stream.send(b"X: x\r\n")
        await anyio.sleep(0.01)


async def _silence(stream: anyio.abc.ByteStream) -> None:
    await stream.receive()


@pytest.mark.parametrize("says", [_silence, _trickle, _trickled_head])
@pytest.mark.contract("9.update.ten-seconds")
async def test_an_answer_that_takes_too_long_is_cut_off_however_it_comes(says: Reply) -> None:
    async with open_site(says) as site, open_desk(site, check_seconds=0.2) as desk:
        assert (await desk.updates.check()).check == "failed"


async def test_an_answer_without_an_end_is_given_up() -> None:
    sent = 0

    async def flood(stream: anyio.abc.ByteStream) -> None:
        nonlocal sent
        await stream.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await stream.send(b" " * 65_536)
            sent += 65_536

    async with open_site(flood) as site, open_desk(site) as desk:
        assert (await desk.updates.check()).check == "failed"
    assert sent < 20_000_000, "the rest is what the network holds"


def _moved(to: str) -> bytes:
    return answer(b"{}", "301 Moved Permanently", f"Location: {to}")


async def test_a_repository_that_was_renamed_is_found_on_the_same_host() -> None:
    async with open_site() as site, open_desk(site) as desk:

        async def moved_once(stream: anyio.abc.ByteStream) -> None:
            is_first = site.asked == 1
            await stream.send(_moved("/repositories/7") if is_first else answer(released()))

        site.says = moved_once
        assert (await desk.updates.check()).check == "ok"
    assert [head.partition(b" HTTP")[0] for head in site.heads] == [
        b"GET /releases/latest",
        b"GET /repositories/7",
    ]


async def test_a_redirection_to_another_host_is_not_followed() -> None:
    async with open_site() as other, open_site(_moved(other.url)) as site, open_desk(site) as desk:
        assert (await desk.updates.check()).check == "failed"
    assert (site.asked, other.asked) == (1, 0)


async def test_redirections_without_an_end_are_given_up() -> None:
    async with open_site(_moved("/again")) as site, open_desk(site) as desk:
        assert (await desk.updates.check()).check == "failed"
    assert site.asked == 4


async def test_nobody_but_who_has_the_certificate_is_believed(identity: Any, stranger: Any) -> None:
    for shown, expected in ((identity, "ok"), (stranger, "failed")):
        async with open_site(tls=shown.context) as site, open_desk(site) as desk:
            assert (await desk.updates.check()).check == expected


async def test_a_proxy_that_the_environment_names_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_site() as proxy, open_site() as site, open_desk(site) as desk:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.rpartition("/releases")[0])
        assert (await desk.updates.check()).check == "ok"
    assert (site.asked, proxy.asked) == (0, 1)
    assert proxy.heads[0].startswith(f"GET {site.url} HTTP/1.1".encode())
