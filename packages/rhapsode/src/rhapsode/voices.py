"""The voices of an engine, as its worker lists them (contract § 7)."""

import json
from typing import Any, cast
from urllib.parse import quote

from rhapsode_contract import Internal, check_voice_id

from rhapsode.workers.fleet import Fleet
from rhapsode.workers.session import Answer


class Voices:
    """Passes questions about voices on. Keeps no list: a second one could only be wrong."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    async def listed(self, engine: str) -> bytes:
        """Returns the JSON list of an engine's voices. May start its process, never its model.

        Raises:
            RhapsodeError: The engine is unknown, or its worker does not say.
        """
        session = await self._fleet.worker(engine).ensure_up()
        return with_public_previews((await session.ask("GET", "/voices")).body, engine)

    async def preview(self, engine: str, voice: str) -> Answer:
        """Returns a sample of a voice. Loads no model.

        Raises:
            RhapsodeError: The engine or the voice is unknown, or there is no sample.
        """
        check_voice_id(voice)
        session = await self._fleet.worker(engine).ensure_up()
        answer = await session.ask("GET", f"/voices/{voice}/preview")
        if not answer.content_type.lower().startswith("audio/"):
            raise Internal(f"the engine's preview is {answer.content_type!r}, no audio")
        return answer


def with_public_previews(body: bytes, engine: str) -> bytes:
    """Returns a worker's list with each `previewUrl` as the public API has it, nothing else edited.

    A worker can't know its own prefix.

    Raises:
        Internal: It is no list of voices.
    """
    try:
        voices: object = json.loads(body)
    except ValueError:
        voices = None
    if not isinstance(voices, list):
        raise Internal("the engine's answer to /voices is no list")
    rewritten = [_with_public_preview(voice, engine) for voice in cast("list[object]", voices)]
    return json.dumps(rewritten, ensure_ascii=False, separators=(",", ":")).encode()


def _with_public_preview(voice: object, engine: str) -> dict[str, Any]:
    if not isinstance(voice, dict):
        raise Internal("the engine's answer to /voices holds what is no voice")
    fields = cast("dict[str, Any]", voice)
    if fields.get("previewUrl") is None or not isinstance(fields.get("id"), str):
        return fields
    path = f"/engines/{quote(engine, safe='')}/voices/{quote(fields['id'], safe='')}/preview"
    return {**fields, "previewUrl": path}
