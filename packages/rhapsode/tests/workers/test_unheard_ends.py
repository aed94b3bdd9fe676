"""Workers on another machine that have to make room and do not hear of it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.workers.patience import Patience
from rhapsode_http import Client, TcpAddress

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

Serve = Callable[..., AbstractAsyncContextManager[Any]]
OpenRemote = Callable[..., AbstractAsyncContextManager[Any]]
OpenRelay = Callable[..., AbstractAsyncContextManager[Any]]

HASTE = Patience(connect_seconds=0.5, watch_seconds=0.2, return_seconds=0.02)


def at(port: int) -> EngineEntry:
    """The entry of a worker on a port of this machine."""
    return EngineEntry(url=f"http://127.0.0.1:{port}")


async def engines_on(core: Any) -> list[str]:
    """Returns whose models are on the card."""
    listed = (await core.http.get("/residency")).json()["models"]
    return [model["engine"] for model in listed]


async def test_the_place_of_one_that_does_not_hear_that_it_should_go_is_not_given_to_another(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay, second_tone: EngineEntry
) -> None:
    told: list[bytes] = []

    def forbid(piece: bytes) -> bytes:
        if not piece.startswith(b"POST /terminate") or len(told) == 3:
            return piece
        told.append(piece)
        return piece.replace(b"POST /terminate", b"POST /forbidden", 1)

    patience = replace(HASTE, pauses_seconds=(0.0, 0.1, 0.2, 0.4))
    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_request=forbid) as relay,
        serve({"tone": at(relay.port), "other": second_tone}, patience=patience) as core,
    ):
        assert (await core.speak(engine="tone", text="Hi.", keepAliveSeconds=-1)).status_code == 200
        while (answer := await core.speak(engine="other", text="Hi.")).status_code != 200:
            error = answer.json()["error"]
            assert (error["code"], error["retryable"]) == ("model_unavailable", True)
            assert "wait for room: 'tone' could not be told to go" in error["message"]
            assert await engines_on(core) == ["tone"]
        assert len(told) == 3
        assert await engines_on(core) == ["other"]
        assert remote.exits == [0]


async def test_nobody_who_needs_room_has_one_told_again_before_its_time(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay, second_tone: EngineEntry
) -> None:
    told: list[bytes] = []

    def forbid(piece: bytes) -> bytes:
        told.extend([piece] if piece.startswith(b"POST /terminate") else [])
        return piece.replace(b"POST /terminate", b"POST /forbidden", 1)

    patience = replace(HASTE, pauses_seconds=(0.0, 0.1, 1000.0))
    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_request=forbid) as relay,
        serve({"tone": at(relay.port), "other": second_tone}, patience=patience) as core,
    ):
        assert (await core.speak(engine="tone", text="Hi.")).status_code == 200
        while len(told) < 2:
            assert (await core.speak(engine="other", text="Hi.")).status_code == 503
        for _ in range(20):
            assert (await core.speak(engine="other", text="Hi.")).status_code == 503
        assert len(told) == 2
        assert (await core.speak(engine="tone", text="Hi.")).status_code == 200


async def test_one_that_did_not_hear_and_is_met_again_without_a_model_has_made_room(
    serve: Serve, open_remote: OpenRemote, open_relay: OpenRelay, second_tone: EngineEntry
) -> None:
    told: list[bytes] = []

    def forbid(piece: bytes) -> bytes:
        told.extend([piece] if piece.startswith(b"POST /terminate") else [])
        return piece.replace(b"POST /terminate", b"POST /forbidden", 1)

    async with (
        open_remote() as remote,
        open_relay(remote.port, edit_request=forbid) as relay,
        Client(TcpAddress("127.0.0.1", remote.port)) as friend,
        serve({"tone": at(relay.port), "other": second_tone}, patience=HASTE) as core,
    ):
        assert (await core.speak(engine="tone", text="Hi.")).status_code == 200
        assert (await core.speak(engine="other", text="Hi.")).status_code == 503
        async with await friend.request("POST", "/unload") as answer:
            assert answer.status == 200
        while (await core.speak(engine="other", text="Hi.")).status_code != 200:
            pass
        assert len(told) == 1
        assert remote.exits == []
        assert await engines_on(core) == ["other"]
