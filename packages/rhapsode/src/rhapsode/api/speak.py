"""Speech: `POST /speak` and `POST /engines/{engine}/dialogue`."""

from contextlib import suppress

from rhapsode_contract import PublicDialogueRequest, PublicSpeakRequest
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
        # Nobody is left to tell, and Starlette's handlers know no answer that has begun already.
        with suppress(ListenerLeft), while_connected(scope):
            await speech.speak(body, send)


class Converse:
    """The same for a dialogue."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        speech: Speech = request.app.state.speech
        body = await read_json(request, PublicDialogueRequest)
        with suppress(ListenerLeft), while_connected(scope):
            await speech.converse(request.path_params["engine"], body, send)


routes = [
    Route("/speak", Speak(), methods=["POST"]),
    Route("/engines/{engine}/dialogue", Converse(), methods=["POST"]),
]
