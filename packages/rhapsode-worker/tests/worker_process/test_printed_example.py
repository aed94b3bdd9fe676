"""The adapter that contract § 8 prints is a whole worker as it stands."""

import json
from pathlib import Path
from typing import Any

import pytest

from .worker import ADAPTERS, Worker, ask, running

pytestmark = pytest.mark.anyio

BYTES_PER_CHARACTER = 2 * 24_000 // 20


async def speak(worker: Worker, **fields: Any) -> bytes:
    async with worker.client as client:
        status, body = await ask(client, "POST", "/speak", {"format": "pcm", **fields})
    assert status == 200, body
    return body


@pytest.mark.contract("8.author.one-class", "8.serve.routes")
async def test_it_speaks_with_and_without_a_voice_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "narrator_02.wav").write_bytes(bytes(440))
    (tmp_path / "notes.txt").write_text("no voice", encoding="utf-8")
    async with running(
        str(ADAPTERS / "printed_example.py"),
        engine="chatterbox",
        environ={"RHAPSODE_VOICE_DIR": str(tmp_path)},
    ) as worker:
        text = "It is [laugh] me."
        plain = await speak(worker, text=text)
        voiced = await speak(worker, text=text, voice="narrator_02")
        assert len(plain) == len(voiced) == len(text) * BYTES_PER_CHARACTER
        assert plain != voiced
        async with worker.client as client:
            assert json.loads((await ask(client, "GET", "/voices"))[1]) == [
                {"id": "narrator_02", "label": "narrator_02", "spec": "narrator_02@turbo"}
            ]
            status, body = await ask(client, "POST", "/speak", {"text": "Hi.", "voice": "notes"})
            assert (status, json.loads(body)["error"]["code"]) == (404, "unknown_voice")
        # The other build: no cues, but dials.
        quiet = await speak(worker, text=text, variant="original", delivery="hushed")
        loud = await speak(worker, text=text, variant="original", params={"exaggeration": 2})
        assert len(quiet) == len("It is me.") * BYTES_PER_CHARACTER
        assert max(loud) > max(quiet) or loud != quiet
        worker.signal()
        assert await worker.ended() == 0
