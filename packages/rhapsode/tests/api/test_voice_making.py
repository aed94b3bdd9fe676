"""Voices made and deleted through the core, which keeps nothing of them."""

import io
import math
import wave
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from rhapsode.settings.entry import EngineEntry

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

Serve = Callable[..., AbstractAsyncContextManager[Any]]
Tone = Callable[..., EngineEntry]

MIB = 1 << 20
BOUNDARY = "a-boundary"
MULTIPART = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}
HEAD = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="id"\r\n\r\nsam\r\n--{BOUNDARY}\r\n'
    'Content-Disposition: form-data; name="reference"; filename="sam.wav"\r\n\r\n'
).encode()
TAIL = f"\r\n--{BOUNDARY}--\r\n".encode()


def clip(hertz: int = 300, seconds: float = 1.0) -> bytes:
    """A reference that the tone engine takes its pitch from."""
    step = 2 * math.pi * hertz / 24_000
    samples = array("h", [round(9000 * math.sin(step * n)) for n in range(int(24_000 * seconds))])
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(24_000)
        out.writeframes(samples.tobytes())
    return file.getvalue()


def staged_in(folder: Path) -> list[Path]:
    """What a worker has received of voices that are none yet."""
    return list(folder.rglob(".store/incoming/*"))


def error(answer: Any) -> dict[str, Any]:
    return dict(answer.json()["error"])


@pytest.mark.contract("7.create.route", "7.create.loads-nothing")
async def test_a_voice_is_made_spoken_listed_and_deleted_and_takes_no_place(
    serve: Serve, tone: Tone
) -> None:
    async with serve({"tone": tone()}) as served:
        made = await served.http.post(
            "/engines/tone/voices",
            data={"id": "sam", "label": "Sam"},
            files={"reference": ("sam.wav", clip())},
        )
        assert made.status_code == 201
        assert (made.json()["id"], made.json()["label"]) == ("sam", "Sam")
        assert made.json()["previewUrl"] == "/engines/tone/voices/sam/preview"
        assert (await served.http.get("/residency")).json()["models"] == []
        listed = (await served.http.get("/engines/tone/voices")).json()
        assert made.json() in listed
        assert (await served.http.get(made.json()["previewUrl"])).content == clip()
        assert (await served.speak(engine="tone", text="Hello.", voice="sam")).status_code == 200
        gone = await served.http.delete("/engines/tone/voices/sam")
        assert (gone.status_code, gone.content) == (204, b"")
        again = await served.http.delete("/engines/tone/voices/sam")
        assert (again.status_code, error(again)["code"]) == (404, "unknown_voice")


@pytest.mark.parametrize(
    ("fields", "file", "status", "code"),
    [
        ({}, ("sam.wav", clip()), 400, "bad_request"),
        ({"id": "../sam"}, ("sam.wav", clip()), 400, "bad_request"),
        ({"id": "sam", "blend": "a4"}, ("sam.wav", clip()), 400, "bad_request"),
        ({"id": "sam"}, ("sam.exe", clip()), 422, "unsupported"),
        ({"id": "sam", "blend": "nobody"}, None, 404, "unknown_voice"),
    ],
    ids=["no id", "no name", "two sources", "type", "unknown part"],
)
async def test_what_the_worker_refuses_is_refused_in_its_words(
    fields: dict[str, str],
    file: tuple[str, bytes] | None,
    status: int,
    code: str,
    serve: Serve,
    tone: Tone,
) -> None:
    async with serve({"tone": tone()}) as served:
        files = {"reference": file} if file else {"label": (None, "Sam")}
        answer = await served.http.post("/engines/tone/voices", data=fields, files=files)
    assert (answer.status_code, error(answer)["code"]) == (status, code)


@pytest.mark.contract("7.create.upload")
async def test_an_upload_reaches_the_worker_while_it_is_still_coming(
    serve: Serve, tone: Tone, tmp_path: Path
) -> None:
    async def arrived() -> None:
        while not any(path.stat().st_size for path in staged_in(tmp_path)):
            await anyio.lowlevel.checkpoint()

    async def form() -> AsyncIterator[bytes]:
        sound = clip(seconds=20)
        yield HEAD + sound[: len(sound) // 2]
        await arrived()
        yield sound[len(sound) // 2 :] + TAIL

    async with serve({"tone": tone()}) as served:
        answer = await served.http.post("/engines/tone/voices", content=form(), headers=MULTIPART)
        assert answer.status_code == 201


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "chunked"])
@pytest.mark.contract("7.create.upload")
async def test_an_upload_over_25_mb_is_refused_and_nothing_of_it_stays(
    declared: bool, serve: Serve, tone: Tone, tmp_path: Path
) -> None:
    async def form() -> AsyncIterator[bytes]:
        yield HEAD
        for _ in range(26):
            yield bytes(MIB)
        yield TAIL

    headers = dict(MULTIPART)
    if declared:
        headers["content-length"] = str(len(HEAD) + 26 * MIB + len(TAIL))
    async with serve({"tone": tone()}) as served:
        answer = await served.http.post("/engines/tone/voices", content=form(), headers=headers)
        assert (answer.status_code, error(answer)["code"]) == (400, "bad_request")
        while staged_in(tmp_path):
            await anyio.lowlevel.checkpoint()
        assert (await served.http.get("/engines/tone/voices")).status_code == 200


async def test_an_upload_that_takes_its_time_is_not_cut_by_a_keep_alive(
    serve: Serve, tone: Tone
) -> None:
    async def form() -> AsyncIterator[bytes]:
        yield HEAD + sound[: len(sound) // 2]
        await served.speak(engine="tone", text="Hi.", keepAliveSeconds=0)
        with anyio.move_on_after(1):  # which is more than the grace of a process that has to go
            await session.ended.wait()
        yield sound[len(sound) // 2 :] + TAIL

    sound = clip()
    async with serve({"tone": tone()}, drain_grace_ms=100) as served:
        session = await served.core.fleet.worker("tone").ensure_up()
        answer = await served.http.post("/engines/tone/voices", content=form(), headers=MULTIPART)
        assert answer.status_code == 201
        while (await served.http.get("/residency")).json()["models"]:  # and now it goes
            await anyio.lowlevel.checkpoint()


async def test_an_upload_keeps_no_place_from_another_engine(
    serve: Serve, tone: Tone, second_tone: EngineEntry
) -> None:
    async def form() -> AsyncIterator[bytes]:
        yield HEAD
        assert (await served.speak(engine="other", text="Hi.")).status_code == 200
        yield clip() + TAIL

    entries = {"tone": tone(), "other": second_tone}
    async with serve(entries, drain_grace_ms=100) as served:
        assert (await served.speak(engine="tone", text="Hi.")).status_code == 200
        answer = await served.http.post("/engines/tone/voices", content=form(), headers=MULTIPART)
        assert (answer.status_code, error(answer)["code"]) == (503, "model_unavailable")


async def test_a_client_that_leaves_during_an_upload_leaves_nothing(
    serve: Serve, tone: Tone, tmp_path: Path
) -> None:
    async def form() -> AsyncIterator[bytes]:
        yield HEAD + bytes(MIB)
        while not staged_in(tmp_path):
            await anyio.lowlevel.checkpoint()
        leaving.cancel()
        yield bytes(MIB)

    async with serve({"tone": tone()}) as served:
        with anyio.CancelScope() as leaving:
            await served.http.post("/engines/tone/voices", content=form(), headers=MULTIPART)
        assert leaving.cancelled_caught
        while staged_in(tmp_path):
            await anyio.lowlevel.checkpoint()
