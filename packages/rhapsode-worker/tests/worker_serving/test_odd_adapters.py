"""Adapters that break their word beside speech itself, over HTTP."""

from pathlib import Path
from typing import Any

import pytest
from rhapsode_contract import Voice
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.requests import SpeakRequest

from .player import Player
from .stage import on_stage

pytestmark = pytest.mark.anyio


class Heavy(Player):
    """Tells its size as a test says."""

    def __init__(self, told: Any) -> None:
        super().__init__()
        self._told = told

    def memory_bytes(self) -> Any:
        return self._told


@pytest.mark.parametrize(("told", "said"), [(1.5, None), ("1", None), (3e9, 3_000_000_000)])
async def test_a_size_that_is_none_is_left_out_and_health_answers(
    told: Any, said: int | None, encoders: EncoderPool
) -> None:
    async with on_stage(Heavy(told), encoders) as stage:
        assert (await stage.ask("POST", "/load")).status == 200
        health = await stage.ask("GET", "/health")
        assert (health.status, health.json.get("modelBytes")) == (200, said)


class Listing(Player):
    """Lists what a test says."""

    def __init__(self, told: Any) -> None:
        super().__init__()
        self._told = told

    def voices(self) -> Any:
        return self._told


async def test_voices_that_cannot_be_named_are_left_out_once_logged(
    encoders: EncoderPool, caplog: pytest.LogCaptureFixture
) -> None:
    ann, odd = Voice(id="ann", label="Ann", spec="1"), Voice(id="../x", label="X", spec="2")
    async with on_stage(Listing([ann, odd, ann]), encoders) as stage:
        for _ in range(2):
            assert [voice["id"] for voice in (await stage.ask("GET", "/voices")).json] == ["ann"]
        assert (await stage.speak(voice="ann")).status == 200
    assert len([line for line in caplog.messages if "left out" in line]) == 2


@pytest.mark.parametrize("told", [None, [{"id": "ann"}]])
async def test_a_list_that_is_none_names_voices(told: Any, encoders: EncoderPool) -> None:
    async with on_stage(Listing(told), encoders) as stage:
        answer = await stage.ask("GET", "/voices")
    assert (answer.status, answer.code) == (500, "internal")
    assert "voices()" in answer.message


class Previewing(Player):
    """Has one preview for all."""

    def __init__(self, told: Any) -> None:
        super().__init__()
        self._told = told

    def preview(self, voice_id: str) -> Any:
        return self._told


async def test_a_preview_that_is_no_wav_is_never_sent_as_one(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    path = tmp_path / "secret.wav"
    path.write_bytes(b"root:x:0:0")
    for told in (path, str(path)):
        async with on_stage(Previewing(told), encoders) as stage:
            answer = await stage.ask("GET", "/voices/ann/preview")
        assert (answer.status, answer.code) == (500, "internal")
        assert "preview()" in answer.message


async def test_half_a_frame_at_the_end_is_cut_and_logged(
    encoders: EncoderPool, caplog: pytest.LogCaptureFixture
) -> None:
    def score(_: SpeakRequest) -> Any:
        yield from (b"\1", b"\2\3", b"\4\5")

    async with on_stage(Player(score), encoders) as stage:
        assert (await stage.speak(format="pcm")).body == b"\1\2\3\4"
    assert "within a frame" in caplog.text
