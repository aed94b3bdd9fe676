"""The voices of an engine."""

from contextlib import aclosing
from http import HTTPStatus
from typing import Final

from rhapsode_http import UPLOAD_LIMIT_BYTES, body_pieces
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.api.answers import ByMethod, ForAListener, WithBody, json_bytes
from rhapsode.voices import Voices

_FORM_HEADERS: Final = frozenset({b"content-type", b"content-length"})


async def list_voices(request: Request) -> Response:
    """Passes on the worker's list."""
    voices: Voices = request.app.state.voices
    return json_bytes(await voices.listed(request.path_params["engine"]))


async def hear_preview(request: Request) -> Response:
    """Passes on a sample of a voice."""
    voices: Voices = request.app.state.voices
    engine, voice = request.path_params["engine"], request.path_params["voice"]
    sample = await voices.preview(engine, voice)
    return Response(sample.body, headers={"content-type": sample.content_type})


async def create_voice(request: Request) -> Response:
    """Passes an upload on as it arrives: it costs no memory here, and no disk."""
    voices: Voices = request.app.state.voices
    form = body_pieces(request, UPLOAD_LIMIT_BYTES, "a voice upload")
    headers = [pair for pair in request.headers.raw if pair[0] in _FORM_HEADERS]
    async with aclosing(form):
        made = await voices.create(request.path_params["engine"], headers, form)
    return Response(made, HTTPStatus.CREATED, media_type="application/json")


async def delete_voice(request: Request) -> Response:
    """Passes a delete on."""
    voices: Voices = request.app.state.voices
    await voices.delete(request.path_params["engine"], request.path_params["voice"])
    return Response(status_code=HTTPStatus.NO_CONTENT)


_voices = ByMethod(GET=ForAListener(list_voices), POST=WithBody(create_voice))

routes = [
    Route("/engines/{engine}/voices", _voices, methods=_voices.methods),
    Route("/engines/{engine}/voices/{voice}/preview", ForAListener(hear_preview), methods=["GET"]),
    Route("/engines/{engine}/voices/{voice}", delete_voice, methods=["DELETE"]),
]
