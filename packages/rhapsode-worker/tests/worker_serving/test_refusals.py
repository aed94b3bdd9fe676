"""Every refusal: its code, its status, the field it names. None of them reaches the engine."""

from typing import Any

import pytest
from rhapsode_worker.encoding.pool import EncoderPool

from .player import Player
from .stage import on_stage

pytestmark = pytest.mark.anyio


def speak(**fields: Any) -> dict[str, Any]:
    return {"text": "Hello.", **fields}


@pytest.mark.parametrize(
    ("fields", "status", "code", "field"),
    [
        ({"text": None}, 400, "bad_request", "text"),
        ({"text": 7}, 400, "bad_request", "text"),
        ({"text": ""}, 400, "bad_request", "text"),
        ({"text": "\u200b"}, 400, "bad_request", "text"),
        ({"text": "..."}, 400, "bad_request", "text"),
        ({"text": "[laugh]"}, 400, "bad_request", "text"),
        ({"text": "x" * 61}, 400, "bad_request", "text"),
        ({"text": "a\0b"}, 400, "bad_request", "text"),
        ({"texts": "x"}, 400, "bad_request", "texts"),
        ({"engine": "player"}, 400, "bad_request", "engine"),
        ({"keepAliveSeconds": 5}, 400, "bad_request", "keepAliveSeconds"),
        ({"delivery": "whispered"}, 400, "bad_request", "delivery"),
        ({"stream": "perhaps"}, 400, "bad_request", "stream"),
        ({"seed": True}, 400, "bad_request", "seed"),
        ({"seed": 1.5}, 400, "bad_request", "seed"),
        ({"seed": 2**63}, 400, "bad_request", "seed"),
        ({"params": {"speed": 1}}, 400, "bad_request", "params.speed"),
        ({"params": [1]}, 400, "bad_request", "params"),
        ({"variant": "dialled", "params": {"speed": True}}, 400, "bad_request", "params.speed"),
        ({"variant": "dialled", "params": {"speed": 9}}, 400, "bad_request", "params.speed"),
        ({"voice": ""}, 400, "bad_request", "voice"),
        ({"voice": "../../etc/passwd"}, 400, "bad_request", "voice"),
        ({"voice": "a" * 65}, 400, "bad_request", "voice"),
        ({"voice": "é"}, 400, "bad_request", "voice"),
        ({"voice": "ann\n"}, 400, "bad_request", "voice"),
        ({"voice": "nobody"}, 404, "unknown_voice", "voice"),
        ({"voice": "ANN"}, 404, "unknown_voice", "voice"),
        ({"format": "aac"}, 422, "unsupported", "format"),
        ({"variant": "huge"}, 422, "unsupported", "variant"),
        ({"variant": ""}, 422, "unsupported", "variant"),
        ({"delivery": "hushed"}, 422, "unsupported", "delivery"),
        ({"variant": "dialled", "language": "de"}, 422, "unsupported", "language"),
    ],
    ids=lambda value: None if isinstance(value, int | str) else str(value)[:40],
)
@pytest.mark.contract(
    "6.errors.envelope",
    "6.errors.retryable",
    "6.errors.bad-request",
    "6.errors.unknown-voice",
    "6.errors.unsupported",
    "6.speak.text",
    "6.speak.voice",
    "6.params.by-dials",
    "7.id.grammar",
    "7.unknown.no-substitute",
    "8.checks.max-characters",
    "8.checks.params",
    "8.checks.undeclared",
    "d.codes.unknown-field",
    "d.codes.wrong-type",
    "d.codes.delivery-word",
    "d.errors.everywhere",
    "d.errors.message",
    "d.errors.never-audio",
)
async def test_a_request_that_cannot_be_spoken_names_what_is_wrong_with_it(
    fields: dict[str, Any], status: int, code: str, field: str, encoders: EncoderPool
) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        for stream in (False, True):
            answer = await stage.ask("POST", "/speak", {"stream": stream} | speak(**fields))
            assert (answer.status, answer.code) == (status, code)
            assert answer.message.startswith(f"{field}:")
    assert player.events == []


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        (b"", "application/json", "JSON"),
        (b'{"text": "a",', "application/json", "column"),
        (b'{"text": "a", "text"', "application/json", "column"),
        (b"[]", "application/json", "object"),
        (b"null", "application/json", "object"),
        (b'{"text": "\\ud800"}', "application/json", ""),
        (b'{"text": "\xff"}', "application/json", ""),
        (b'{"text": "a", "seed": NaN}', "application/json", ""),
        (
            b'{"text": "a", "params": {"speed": 1e999}, "variant": "dialled"}',
            "application/json",
            "",
        ),
        (b'{"text": "a"}', "text/plain", "application/json"),
        (b'{"text": "a"}', "application/x-www-form-urlencoded", "application/json"),
        (b'{"text": "' + b"a" * (1 << 20) + b'"}', "application/json", "1,048,576"),
    ],
    ids=lambda value: str(value)[:30],
)
@pytest.mark.contract(
    "d.codes.malformed", "d.codes.content-type", "d.codes.non-finite", "d.limits.body"
)
async def test_a_body_that_cannot_be_read_is_a_bad_request(
    body: bytes, content_type: str, said: str, encoders: EncoderPool
) -> None:
    async with on_stage(Player(), encoders) as stage:
        answer = await stage.ask("POST", "/speak", body, content_type=content_type)
        assert (answer.status, answer.code) == (400, "bad_request")
        assert said in answer.message
        assert (await stage.speak()).status == 200


@pytest.mark.contract("d.codes.coerced")
async def test_a_number_written_as_a_string_is_that_number(encoders: EncoderPool) -> None:
    player = Player()
    fields = {"variant": "dialled", "seed": "7", "params": {"speed": "2"}}
    async with on_stage(player, encoders) as stage:
        assert (await stage.speak(**fields)).body == (
            await stage.speak(variant="dialled", seed=7, params={"speed": 2.0})
        ).body


@pytest.mark.contract("8.claims.accepted", "6.params.by-dials")
async def test_all_that_a_variant_claims_may_be_asked_for(encoders: EncoderPool) -> None:
    async with on_stage(Player(), encoders) as stage:
        for fields in (
            {"text": "[laugh]"},
            {"delivery": "hushed"},
            {"language": "fr"},
            {"params": {"speed": 0.5}},
            {"params": {"speed": 2.0}},
            {"voice": "zoe"},
        ):
            assert (await stage.speak(variant="dialled", **fields)).status == 200


@pytest.mark.parametrize(
    ("voice", "near"), [("anne", ["ann", "anna"]), ("Bert", ["bert"]), ("qqqqqq", ["ann"])]
)
@pytest.mark.contract("d.errors.near-voices")
async def test_an_unknown_voice_lists_near_ones(
    voice: str, near: list[str], encoders: EncoderPool
) -> None:
    async with on_stage(Player(), encoders) as stage:
        for method, target, body in (
            ("POST", "/speak", speak(voice=voice)),
            ("DELETE", f"/voices/{voice}", b""),
            ("GET", f"/voices/{voice}/preview", b""),
        ):
            answer = await stage.ask(method, target, body)
            assert (answer.status, answer.code) == (404, "unknown_voice")
            assert all(name in answer.message for name in near)


@pytest.mark.parametrize(
    ("method", "target", "status", "allow"),
    [
        ("GET", "/", 404, ""),
        ("GET", "/nothing", 404, ""),
        ("GET", "/health/", 404, ""),
        ("POST", "/speak/", 404, ""),
        ("GET", "/voices/a/b/c", 404, ""),
        ("GET", "/speak", 405, "POST"),
        ("PUT", "/speak", 405, "POST"),
        ("GET", "/load", 405, "POST"),
        ("POST", "/health", 405, "GET"),
        ("DELETE", "/capabilities", 405, "GET"),
        ("PATCH", "/voices", 405, "GET"),
        ("GET", "/voices/ann", 405, "DELETE"),
        ("OPTIONS", "/speak", 405, "POST"),
    ],
)
@pytest.mark.contract("d.errors.unknown-route", "d.errors.method")
async def test_what_is_not_served_is_an_envelope_too(
    method: str, target: str, status: int, allow: str, encoders: EncoderPool
) -> None:
    async with on_stage(Player(), encoders) as stage:
        answer = await stage.ask(method, target)
    assert (answer.status, answer.code) == (status, "bad_request")
    if allow:
        assert allow in answer.headers["allow"]


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("POST", "/voices", b""),
        ("DELETE", "/voices/ann", b""),
        ("GET", "/voices/ann/preview", b""),
        ("POST", "/fetch", {"variant": "plain"}),
        ("POST", "/dialogue", {"turns": [{"speaker": "a", "text": "Hi."}]}),
    ],
)
@pytest.mark.contract("8.fetch.optional", "6.dialogue.undeclared")
async def test_what_this_engine_does_not_do_is_unsupported(
    method: str, target: str, body: Any, encoders: EncoderPool
) -> None:
    async with on_stage(Player(), encoders) as stage:
        answer = await stage.ask(method, target, body)
    assert (answer.status, answer.code) == (422, "unsupported")


@pytest.mark.parametrize("target", ["/fetch", "/dialogue", "/load", "/unload"])
async def test_other_routes_read_their_bodies_as_strictly(
    target: str, encoders: EncoderPool
) -> None:
    async with on_stage(Player(), encoders) as stage:
        for body in ({"nonsense": 1}, b"{", b"[]"):
            answer = (
                await stage.ask("POST", target, body, content_type="application/json")
                if (isinstance(body, bytes))
                else await stage.ask("POST", target, body)
            )
            assert (answer.status, answer.code) == (400, "bad_request")


@pytest.mark.parametrize(
    "voice", ["%2e%2e", "a%20b", "%00", "x" * 65, "*", "C:%5Cx", "a%2fb", "..%2F..%2Fetc%2Fpasswd"]
)
@pytest.mark.contract("7.id.grammar")
async def test_a_malformed_id_in_a_path_is_refused_before_the_adapter_is_asked(
    voice: str, encoders: EncoderPool
) -> None:
    player = Player()
    player.on_voices = lambda: player.events.append("voices")
    async with on_stage(player, encoders) as stage:
        for method, target in (("DELETE", f"/voices/{voice}"), ("GET", f"/voices/{voice}/preview")):
            answer = await stage.ask(method, target)
            assert (answer.status, answer.code) == (400, "bad_request")
            assert answer.message.startswith("id: ")
    assert player.events == []


async def test_text_is_cleaned_before_the_adapter_sees_it(encoders: EncoderPool) -> None:
    player = Player()
    async with on_stage(player, encoders) as stage:
        answer = await stage.speak(text="Cafe\u0301 \u202e[sigh] ok\x07.")
        assert answer.status == 200
    assert player.events[-1] == "speak Café ok ."
