"""The model over HTTP: loaded on demand, switched, given up; what is said of it meanwhile."""

import asyncio
import json
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from rhapsode_contract import Capabilities
from rhapsode_http import Client, Server, UnixAddress, beside, bind
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.routes import Drain, Routes
from rhapsode_worker.studio import Studio

from .player import Player
from .stage import on_stage

pytestmark = pytest.mark.anyio


@pytest.mark.contract(
    "3.start.loads-nothing", "3.health.both", "4.current.absent", "7.voices.listed"
)
async def test_at_first_nothing_is_loaded_and_everything_is_listed(encoders: EncoderPool) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        health = (await stage.ask("GET", "/health")).json
        capabilities = (await stage.ask("GET", "/capabilities")).json
        voices = (await stage.ask("GET", "/voices")).json
    assert health == {"process": "up", "model": "unloaded", "device": "cpu"}
    assert "current" not in capabilities
    assert list(capabilities["variants"]) == ["plain", "dialled", "stereo"]
    assert capabilities["formats"] == ["wav", "mp3", "opus", "flac", "pcm"]
    assert voices[0] == {"id": "ann", "label": "Ann", "spec": "ann@1"}
    assert player.events == []


@pytest.mark.contract(
    "3.speak.loads",
    "3.health.model-bytes-honest",
    "4.current.resident",
    "6.speak.variant",
    "d.json.camel-case",
)
async def test_speaking_loads_what_it_needs(encoders: EncoderPool) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        await stage.speak(variant="dialled")
        health = (await stage.ask("GET", "/health")).json
        document = (await stage.ask("GET", "/capabilities")).body
        await stage.speak()  # names none: the resident one
    assert health == {"process": "up", "model": "loaded", "variant": "dialled", "device": "cpu"}
    current = Capabilities.model_validate_json(document).current
    assert current is not None
    assert current.variant == "dialled"
    assert b"null" not in document
    assert player.events == ["load dialled", "speak Hello.", "speak Hello."]


@pytest.mark.contract("4.current.follows-switch", "d.variant.switch", "3.unload.keeps-process")
async def test_a_switch_is_an_unload_and_a_load(encoders: EncoderPool) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        await stage.speak(variant="plain")
        await stage.speak(variant="stereo")
        current = (await stage.ask("GET", "/capabilities")).json["current"]
    assert (current["variant"], current["nativeFormat"]["channels"]) == ("stereo", 2)
    assert player.events == [
        "load plain",
        "speak Hello.",
        "unload",
        "load stereo",
        "speak Hello.",
    ]


@pytest.mark.contract("1.routes.worker")
async def test_every_route_of_a_worker_is_served(encoders: EncoderPool) -> None:
    routes = ["GET /capabilities", "GET /voices", "GET /health", "POST /load", "POST /unload"]
    routes += ["POST /fetch", "POST /speak", "POST /dialogue", "POST /terminate"]
    async with on_stage(Player(), encoders) as stage:
        for route in routes:
            method, target = route.split()
            assert (await stage.ask(method, target)).status not in {404, 405}


@pytest.mark.parametrize("body", [b"", {}, {"variant": None}, {"variant": "plain"}])
@pytest.mark.contract("d.verbs.answers", "d.variant.default")
async def test_load_answers_with_health_and_may_be_repeated(
    body: bytes | dict[str, str], encoders: EncoderPool
) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        for _ in range(2):
            answer = await stage.ask("POST", "/load", body)
            assert answer.status == 200
            assert answer.json["model"] == "loaded"
            assert answer.json["variant"] == "plain"
    assert player.events == ["load plain"]


async def test_load_without_a_variant_keeps_the_resident_one(encoders: EncoderPool) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        await stage.ask("POST", "/load", {"variant": "stereo"})
        assert (await stage.ask("POST", "/load")).json["variant"] == "stereo"
    assert player.events == ["load stereo"]


@pytest.mark.contract("d.codes.variant")
async def test_load_of_a_variant_there_is_none_of_is_unsupported(encoders: EncoderPool) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        answer = await stage.ask("POST", "/load", {"variant": "huge"})
    assert (answer.status, answer.code) == (422, "unsupported")
    assert player.events == []


@pytest.mark.contract("3.unload.idempotent", "3.unload.keeps-process", "d.verbs.answers")
async def test_unload_answers_with_health_and_may_be_repeated(encoders: EncoderPool) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        await stage.speak()
        for body in (b"", b"{}"):
            answer = await stage.ask("POST", "/unload", body, content_type="application/json")
            assert answer.status == 200
            assert answer.json == {"process": "up", "model": "unloaded", "device": "cpu"}
        assert (await stage.speak()).status == 200
    assert player.events == ["load plain", "speak Hello.", "unload", "load plain", "speak Hello."]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (MemoryError(), 503, "oom"),
        (FileNotFoundError("weights"), 503, "model_unavailable"),
        (ValueError("config"), 500, "internal"),
        (SystemExit(1), 500, "internal"),
    ],
    ids=["memory", "weights", "bug", "exit"],
)
@pytest.mark.parametrize("verb", ["load", "speak", "stream"])
@pytest.mark.contract(
    "6.errors.oom", "6.errors.model-unavailable", "6.errors.internal", "3.load.retry-once"
)
async def test_a_load_that_fails_is_tried_twice_and_tells_why(
    verb: str, error: BaseException, status: int, code: str, encoders: EncoderPool
) -> None:
    def fail(_: str) -> None:
        raise error

    player = Player()
    player.on_load = fail
    async with on_stage(player, encoders) as stage:
        answer = (
            await stage.ask("POST", "/load")
            if verb == "load"
            else await stage.speak(stream=verb == "stream", format="mp3")
        )
        assert (answer.status, answer.code) == (status, code)
        assert player.events == ["load plain", "unload"] * 2
        assert (await stage.ask("GET", "/health")).json["model"] == "unloaded"
        player.on_load = lambda _: None
        assert (await stage.speak()).status == 200


@pytest.mark.contract("3.load.retry-once")
async def test_a_load_that_fails_once_is_not_noticed(encoders: EncoderPool) -> None:
    player = Player()
    failures = [RuntimeError("CUDA out of memory")]

    def fail_once(_: str) -> None:
        if failures:
            raise failures.pop()

    player.on_load = fail_once
    async with on_stage(player, encoders) as stage:
        assert (await stage.speak()).status == 200
    assert player.events == ["load plain", "unload", "load plain", "speak Hello."]


class Knowing(Player):
    """Knows what its model holds."""

    def memory_bytes(self) -> int | None:
        return 3_355_443_200


@pytest.mark.contract("3.health.memory-override", "3.health.model-bytes")
async def test_health_tells_the_size_for_as_long_as_the_model_stays(encoders: EncoderPool) -> None:
    async with on_stage(Knowing(), encoders) as stage:
        assert "modelBytes" not in (await stage.ask("GET", "/health")).json
        assert (await stage.ask("POST", "/load")).json["modelBytes"] == 3_355_443_200
        await stage.speak()
        assert (await stage.ask("GET", "/health")).json["modelBytes"] == 3_355_443_200
        assert "modelBytes" not in (await stage.ask("POST", "/unload")).json


class MovableClock(asyncio.SelectorEventLoop):
    """A loop whose clock a test may put forward."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


@pytest.mark.contract("3.policy.worker-obeys")
def test_a_worker_keeps_its_model_however_long_nobody_asks_it_anything(short_path: Path) -> None:
    async def be_idle_for_a_year(player: Player) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MovableClock)
        async with EncoderPool(player.native_format) as pool:
            # Not on the usual stage, which has a deadline of its own.
            drain = Drain(lambda: server.drain(), lambda: server.is_draining)
            routes = Routes(player, Studio(player), pool, 1, drain)
            with bind(UnixAddress(short_path / "w.sock")) as bound:
                server = Server(routes.app(), bound)
                async with beside(server.serve), Client(bound.address) as client:
                    assert await asked(client, "POST", "/speak", b'{"text": "Hello."}')
                    loop.ahead += 365 * 24 * 3600
                    for _ in range(100):  # every timer there is has its turn
                        await anyio.lowlevel.checkpoint()
                    health = json.loads(await asked(client, "GET", "/health"))
        assert (health["process"], health["model"]) == ("up", "loaded")

    player = Player()
    anyio.run(be_idle_for_a_year, player, backend_options={"loop_factory": MovableClock})
    assert player.events == ["load plain", "speak Hello."]


async def asked(client: Client, method: str, target: str, body: bytes = b"") -> bytes:
    headers = [(b"content-type", b"application/json")]
    async with await client.request(method, target, headers, body) as response:
        assert response.status == 200
        return await response.read_all(limit_bytes=1 << 20)
