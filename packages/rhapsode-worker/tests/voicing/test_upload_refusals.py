"""Forms that make no voice, each refused by the field that is wrong, and nothing left of any."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest
from rhapsode_contract import BadRequest, Unsupported
from rhapsode_http import UPLOAD_LIMIT_BYTES
from starlette.requests import Request

from .uploading import (
    BOUNDARY,
    ID,
    MULTIPART,
    WHOLE,
    Part,
    body_of,
    clip,
    received,
    refusal_of,
    request_of,
    text,
)

pytestmark = pytest.mark.anyio

BAD_IDS = ["../../etc/passwd", "..%2f", "C:\\x", "a/b", "a\0", "a" * 300, " n", "é"]


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ([clip()], "id"),
        ([text("id", ""), clip()], "id"),
        ([ID], "reference"),
        ([ID, clip(), text("blend", "a")], "reference"),
        ([ID, text("blend", "a"), clip()], "reference"),
        ([ID, text("blend", "a(0)")], "blend"),
        ([ID, text("blend", " ")], "reference"),
        ([ID, clip(), ID], "id"),
        ([ID, clip(), clip()], "reference"),
        ([ID, clip(), text("speed", "2")], "speed"),
        ([ID, clip(), text("path", "/etc/passwd")], "path"),
        ([ID, clip(), text("", "x")], "''"),
        ([("id", "clip.wav", b"n"), clip()], "id"),
        ([ID, ("reference", None, b"sound")], "reference"),
        ([ID, clip(b"")], "reference"),
        ([ID, ("reference", "", b"sound"), text("blend", "a")], "reference"),
        ([ID, text("label", "x" * 201), clip()], "label"),
        ([ID, text("label", "two\nlines"), clip()], "label"),
        ([ID, text("transcript", "a\0b"), clip()], "transcript"),
        ([ID, text("transcript", "x" * 9000), clip()], "transcript"),
        ([ID, ("label", None, b"\xff"), clip()], "label"),
        ([ID, clip(filename="wav")], "reference"),
        ([ID, clip(filename=".wav")], "reference"),
        ([ID, clip(filename="clip.")], "reference"),
        ([ID, clip(filename="../../etc/passwd")], "reference"),
        ([ID, clip(filename="../../etc/cron.wav")], "reference"),
        ([ID, clip(filename="..%2f")], "reference"),
        ([ID, clip(filename="a/b.wav")], "reference"),
        ([ID, clip(filename="C:\\x")], "reference"),
        ([ID, clip(filename="C:\\x.wav")], "reference"),
        ([ID, clip(filename="\\\\host\\x.wav")], "reference"),
        ([ID, clip(filename="a\0.wav")], "reference"),
        ([ID, clip(filename="a" * 300 + ".wav")], "reference"),
        *[
            ([text("id", voice_id), clip()], "id")
            for voice_id in (
                "../../etc/passwd",
                "..%2f",
                "C:\\x",
                "a/b",
                "a\0",
                "a" * 300,
                " n",
                "é",
            )
        ],
    ],
)
async def test_a_field_that_is_wrong_is_named(folder: Path, parts: list[Part], field: str) -> None:
    refusal = await refusal_of(folder, request_of([body_of(parts)]))
    assert isinstance(refusal, BadRequest)
    assert refusal.field == field


@pytest.mark.parametrize(
    ("parts", "how"),
    [
        ([ID, clip(filename="clip.mp3")], {}),
        ([ID, clip(filename="clip.tar.pkl")], {}),
        ([ID, clip()], {"types": ()}),
        ([ID, text("blend", "a")], {"can_blend": False}),
    ],
)
async def test_a_way_that_the_engine_does_not_make_voices_in_is_unsupported(
    folder: Path, parts: list[Part], how: dict[str, Any]
) -> None:
    assert isinstance(await refusal_of(folder, request_of([body_of(parts)]), **how), Unsupported)


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "application/json",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        f"multipart/mixed; boundary={BOUNDARY}",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=" + "x" * 300,
        "multipart/form-data; boundary=another",
    ],
)
async def test_what_is_no_form_is_refused(folder: Path, content_type: str | None) -> None:
    request = request_of([body_of([ID, clip()])], content_type)
    assert isinstance(await refusal_of(folder, request), BadRequest)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"sound",
        WHOLE[:-20],
        WHOLE[:-4],
        WHOLE[: len(WHOLE) // 2],
        body_of([ID, clip()], end=""),
        WHOLE.replace(b"form-data", b"attachment"),
        WHOLE.replace(b'; name="id"', b""),
        WHOLE.replace(b'name="id"', b'name="\xff"'),
        WHOLE.replace(b"\r\n\r\nsound", b"\r\nContent-Transfer-Encoding: base64\r\n\r\nsound"),
        WHOLE.replace(b"\r\n\r\nsound", b"\r\nX: " + b"x" * 20_000 + b"\r\n\r\nsound"),
        WHOLE.replace(b"\r\n\r\nsound", (b"\r\nX: " + b"x" * 3000) * 3 + b"\r\n\r\nsound"),
        WHOLE.replace(b"Content-Disposition", b"Content Disposition"),
    ],
)
async def test_a_broken_form_is_refused(folder: Path, body: bytes) -> None:
    for pieces in ([body], [body[start : start + 7] for start in range(0, len(body), 7)]):
        assert isinstance(await refusal_of(folder, request_of(pieces)), BadRequest)


async def test_an_engine_that_clones_nothing_says_so_whatever_the_type(folder: Path) -> None:
    refusal = await refusal_of(folder, request_of([body_of([ID, clip()])]), types=())
    assert "no voice from a reference" in refusal.message


async def test_a_body_that_declares_too_much_is_refused_unread(folder: Path) -> None:
    refusal = await refusal_of(folder, request_of([], declared_bytes=UPLOAD_LIMIT_BYTES + 1))
    assert isinstance(refusal, BadRequest)
    assert f"{UPLOAD_LIMIT_BYTES:,}" in refusal.message
    assert not await anyio.Path(folder).exists()


async def test_an_encoded_body_is_refused_unread(folder: Path) -> None:
    refusal = await refusal_of(folder, request_of([], encoding="gzip"))
    assert isinstance(refusal, BadRequest)
    assert "Content-Encoding" in refusal.message
    assert not await anyio.Path(folder).exists()


async def test_a_body_is_counted_as_it_arrives(folder: Path) -> None:
    piece = b"x" * 1_000_000
    taken = 0

    def endless() -> Iterable[bytes]:
        nonlocal taken
        yield body_of([ID, clip()])[:-30]
        while True:
            taken += len(piece)
            yield piece

    source = iter(endless())

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": next(source), "more_body": True}

    headers = [(b"content-type", MULTIPART.encode())]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    assert isinstance(await refusal_of(folder, request), BadRequest)
    assert taken <= UPLOAD_LIMIT_BYTES + len(piece)


async def test_the_limit_itself_is_allowed(folder: Path) -> None:
    body = body_of([ID, clip()])
    await received(folder, request_of([body]), limit_bytes=len(body))
    await refusal_of(folder, request_of([body]), limit_bytes=len(body) - 1)
