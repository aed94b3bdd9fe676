"""The form that makes a voice: read as it arrives, and cleaned up after."""

import json
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rhapsode_contract import BadRequest, Internal
from rhapsode_worker.voicing.new_voice import NewVoice
from rhapsode_worker.voicing.staging import Staging
from rhapsode_worker.voicing.upload import received_voice
from starlette.requests import ClientDisconnect, Request

from .store_room import files_in
from .uploading import (
    ID,
    MULTIPART,
    WHOLE,
    Part,
    body_of,
    clip,
    received,
    request_of,
    text,
)

pytestmark = pytest.mark.anyio


async def test_a_reference_is_on_disk_under_a_name_of_ours_while_it_is_looked_at(
    folder: Path,
) -> None:
    parts = [
        text("id", "narrator_03"),
        text("label", "Narrator 03"),
        clip(),
        text("transcript", "Hi."),
    ]

    def look(voice: NewVoice) -> None:
        assert (voice.id, voice.label, voice.transcript) == ("narrator_03", "Narrator 03", "Hi.")
        assert voice.blend is None
        assert voice.reference is not None
        assert voice.reference.type == "wav"
        assert voice.reference.path.read_bytes() == b"sound"
        assert files_in(folder) == [f".store/incoming/{voice.reference.path.name}"]
        assert "clip" not in voice.reference.path.name

    await received(folder, request_of([body_of(parts)]), look)


async def test_a_blend_is_read_as_a_recipe(folder: Path) -> None:
    parts = [text("blend", "af_bella(3)+af_sky"), text("id", "host"), text("label", "Host")]
    voice = await received(folder, request_of([body_of(parts)]))
    assert voice.reference is None
    assert voice.blend.parts == (("af_bella", 0.75), ("af_sky", 0.25))


@given(
    order=st.permutations([text("id", "n"), text("label", "Ñ"), clip(b"\r\n--" + b"\0\xff" * 9)]),
    cuts=st.lists(st.integers(0, 400), max_size=8),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
def test_fields_come_in_any_order_and_in_any_pieces(
    folder: Path, order: list[Part], cuts: list[int]
) -> None:
    body = body_of(order)
    places = [0, *sorted(cuts), len(body)]
    pieces = [body[start:end] for start, end in zip(places, places[1:], strict=False)]

    def look(voice: NewVoice) -> None:
        assert voice.reference is not None
        assert voice.label == "Ñ"
        assert voice.reference.path.read_bytes() == b"\r\n--" + b"\0\xff" * 9

    anyio.run(received, folder, request_of(pieces), look)


async def test_a_file_of_several_writes_is_whole(folder: Path) -> None:
    contents = bytes(range(256)) * 4096
    body = body_of([clip(contents), text("id", "n")])
    pieces = [body[start : start + 65_536] for start in range(0, len(body), 65_536)]
    written = await received(
        folder,
        request_of(pieces),
        lambda voice: voice.reference and voice.reference.path.read_bytes(),
    )
    assert written == contents


async def test_fields_that_nobody_filled_in_count_as_not_given(folder: Path) -> None:
    blank = [text("label", ""), text("transcript", " "), text("id", "n")]
    voice = await received(folder, request_of([body_of([*blank, text("blend", ""), clip()])]))
    assert (voice.label, voice.transcript, voice.blend) == ("n", None, None)
    no_file = ("reference", "", b"")
    voice = await received(folder, request_of([body_of([*blank, no_file, text("blend", "a+b")])]))
    assert voice.reference is None


async def test_a_type_counts_whatever_its_case(folder: Path) -> None:
    parts = [ID, clip(filename="My Clip (2).WAV")]
    voice = await received(folder, request_of([body_of(parts)]))
    assert voice.reference.type == "wav"


async def test_a_client_that_leaves_leaves_nothing(folder: Path) -> None:
    body = body_of([ID, clip(b"x" * 600_000)])
    for end in (0, 100, 200, 300_000, len(body)):
        with pytest.raises(ClientDisconnect):
            await received(folder, request_of([body[:end]], leaves=True))
        assert files_in(folder) == []


async def test_a_create_that_is_cancelled_leaves_nothing(folder: Path) -> None:
    async def receive() -> dict[str, Any]:
        if not sent:
            sent.append(True)
            return {"type": "http.request", "body": WHOLE[:-40], "more_body": True}
        assert files_in(folder) != []
        scope.cancel()
        await anyio.sleep_forever()
        raise AssertionError

    sent: list[bool] = []
    headers = [(b"content-type", MULTIPART.encode())]
    with anyio.CancelScope() as scope:
        await received(folder, Request({"type": "http", "headers": headers}, receive))
    assert scope.cancelled_caught
    assert files_in(folder) == []


async def test_a_failure_of_the_adapter_leaves_nothing(folder: Path) -> None:
    def look(voice: NewVoice) -> None:
        raise BadRequest("reference: too short", field="reference")

    with pytest.raises(BadRequest):
        await received(folder, request_of([WHOLE]), look)
    assert files_in(folder) == []


async def test_a_reference_that_was_moved_stays(folder: Path) -> None:
    async with received_voice(
        request_of([WHOLE]), Staging(folder), types=["wav"], can_blend=False
    ) as voice:
        assert voice.reference is not None
        voice.reference.path.rename(folder / "n.wav")
    assert files_in(folder) == ["n.wav"]


async def test_a_folder_that_cannot_be_written_is_a_clear_error(folder: Path) -> None:
    await anyio.Path(folder.parent).write_bytes(b"no folder")
    with pytest.raises(Internal):
        async with received_voice(
            request_of([WHOLE]), Staging(folder), types=["wav"], can_blend=False
        ):
            pass


async def test_a_real_client_is_understood(folder: Path) -> None:
    sent = httpx.Request(
        "POST",
        "http://worker/voices",
        data={"id": "narrator_03", "label": 'Narrator "03" ñ', "transcript": "What?\nThat."},
        files={"reference": ("clip ñ.flac", b"sound")},
    )
    request = request_of([sent.read()], sent.headers["content-type"])
    voice = await received(folder, request)
    assert json.dumps([voice.id, voice.label, voice.transcript], ensure_ascii=False) == (
        '["narrator_03", "Narrator \\"03\\" ñ", "What?\\nThat."]'
    )
    assert voice.reference.type == "flac"
