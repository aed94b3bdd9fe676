"""`POST /speak`."""

from rhapsode_contract import PublicSpeakRequest
from rhapsode_http import ListenerLeft, read_json, while_connected
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rhapsode.speech.speak import Speech


class Speak:
    """An ASGI endpoint, since a stream with trailers is more than a response can say."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        speech: Speech = request.app.state.speech
        body = await read_json(request, PublicSpeakRequest)
        try:
            async with while_connected(receive):
                await speech.speak(body, send)
        except ListenerLeft:
            pass  # the engine has been told; nobody else is left to tell


routes = [Route("/speak", Speak(), methods=["POST"])]
