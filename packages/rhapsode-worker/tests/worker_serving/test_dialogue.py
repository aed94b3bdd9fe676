"""Conversations: every check, and the answer that is speaking's (contract § 6, "Dialogue")."""

from pathlib import Path
from typing import Any

import pytest
from rhapsode_http import UpstreamTruncated
from rhapsode_worker.encoding.pool import EncoderPool

from .maker import Maker
from .player import Player
from .stage import Answer, Stage, on_stage

pytestmark = pytest.mark.anyio

TURNS = [{"speaker": "a", "text": "Hello."}, {"speaker": "b", "text": "Good day."}]


async def talk(stage: Stage, **fields: Any) -> Answer:
    """Asks for a conversation; a field that is None is left out."""
    body = {"turns": TURNS, **fields}
    kept = {name: value for name, value in body.items() if value is not None}
    return await stage.ask("POST", "/dialogue", kept)


def turns(*texts: str) -> list[dict[str, str]]:
    return [{"speaker": "abcdefgh"[number], "text": text} for number, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("fields", "status", "code", "field"),
    [
        ({"turns": None}, 400, "bad_request", "turns"),
        ({"turns": []}, 400, "bad_request", "turns"),
        ({"turns": [{"speaker": "a"}]}, 400, "bad_request", "turns.0.text"),
        ({"turns": [{"text": "Hi."}]}, 400, "bad_request", "turns.0.speaker"),
        ({"turns": [*TURNS, {"speaker": "a", "text": "..."}]}, 400, "bad_request", "turns.2.text"),
        ({"turns": turns("[laugh]", "Hi.")}, 400, "bad_request", "turns.0.text"),
        ({"turns": turns("x" * 31, "x" * 30)}, 400, "bad_request", "turns"),
        ({"turns": turns("Hi.", "Hi.", "Hi.", "Hi.")}, 422, "unsupported", "turns"),
        ({"delivery": "hushed"}, 400, "bad_request", "delivery"),
        ({"keepAliveSeconds": 5}, 400, "bad_request", "keepAliveSeconds"),
        ({"voices": {"c": "ann"}}, 400, "bad_request", "voices.c"),
        ({"voices": {"a": "../x"}}, 400, "bad_request", "voices.a"),
        ({"voices": {"a": "ann", "b": "nobody"}}, 404, "unknown_voice", "voices.b"),
        ({"params": {"speed": 1}}, 400, "bad_request", "params.speed"),
        ({"variant": "dialled", "params": {"speed": 9}}, 400, "bad_request", "params.speed"),
        ({"variant": "dialled", "language": "de"}, 422, "unsupported", "language"),
        ({"variant": "huge"}, 422, "unsupported", "variant"),
        ({"format": "aac"}, 422, "unsupported", "format"),
        ({"seed": 1.5}, 400, "bad_request", "seed"),
    ],
    ids=lambda value: None if isinstance(value, int | str) else str(value)[:40],
)
@pytest.mark.contract(
    "6.dialogue.turns",
    "6.dialogue.too-many-speakers",
    "6.dialogue.budget",
    "6.dialogue.no-delivery",
    "6.dialogue.unused-label",
    "6.dialogue.unknown-voice",
    "8.dialogue.checked",
)
async def test_what_cannot_be_performed_names_what_is_wrong_and_never_reaches_the_adapter(
    fields: dict[str, Any],
    status: int,
    code: str,
    field: str,
    encoders: EncoderPool,
    tmp_path: Path,
) -> None:
    maker = Maker(tmp_path)
    async with on_stage(maker, encoders) as stage:
        for stream in (False, True):
            answer = await talk(stage, stream=stream, **fields)
            assert (answer.status, answer.code) == (status, code)
            assert answer.message.startswith(f"{field}:")
    assert maker.events == []


@pytest.mark.parametrize("label", ["x" * 100_000, "a\nb", "\u202ea"], ids=["long", "lines", "mark"])
@pytest.mark.contract("6.dialogue.unknown-voice")
async def test_a_label_is_shown_on_one_short_line(
    label: str, encoders: EncoderPool, tmp_path: Path
) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        answer = await talk(
            stage, turns=[{"speaker": label, "text": "Hi."}], voices={label: "nobody"}
        )
    assert (answer.status, answer.code) == (404, "unknown_voice")
    assert answer.message.startswith("voices.")
    assert answer.message.isprintable()
    assert len(answer.message) < 500


@pytest.mark.contract("6.dialogue.cues")
async def test_cues_are_taken_out_turn_by_turn(encoders: EncoderPool, tmp_path: Path) -> None:
    maker = Maker(tmp_path)
    lines = turns("[laugh] Hi. [sigh]", "[gasp] You!")
    async with on_stage(maker, encoders) as stage:
        assert (await talk(stage, turns=lines, variant="dialled")).status == 200
        assert (await talk(stage, turns=lines, variant="plain")).status == 200
    said = [event for event in maker.events if event.startswith("dialogue")]
    assert said == ["dialogue [laugh] Hi. / You!", "dialogue Hi. / You!"]


@pytest.mark.contract("6.dialogue.budget")
async def test_the_sum_of_all_turns_may_reach_the_ceiling(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        assert (await talk(stage, turns=turns("x" * 30, "x" * 30))).status == 200


@pytest.mark.contract("6.dialogue.speakers", "6.dialogue.no-voice")
async def test_speakers_have_their_voices_or_one_that_the_seed_picks(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        voiced = await talk(stage, voices={"a": "ann", "b": "zoe"}, seed=0)
        half = await talk(stage, voices={"a": "ann"}, seed=0)
        again = await talk(stage, voices={"a": "ann"}, seed=0)
        other = await talk(stage, voices={"a": "ann"}, seed=1)
        none = await talk(stage)
    assert {answer.status for answer in (voiced, half, other, none)} == {200}
    assert half.body == again.body
    assert len({voiced.body, half.body, other.body, none.body}) == 4


@pytest.mark.parametrize("format_name", ["wav", "mp3", "opus", "flac", "pcm"])
@pytest.mark.contract("6.dialogue.as-speak")
async def test_a_conversation_is_answered_as_a_text_is(
    format_name: str, encoders: EncoderPool, tmp_path: Path
) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        spoken = await stage.speak(text="Hello.Good day.", format=format_name)
        whole = await talk(stage, format=format_name)
        streamed = await talk(stage, format=format_name, stream=True)
    for answer in (whole, streamed):
        assert answer.status == 200
        assert answer.headers["content-type"] == spoken.headers["content-type"]
    assert whole.headers["x-rhapsode-duration-ms"] == "750"
    assert int(whole.headers["content-length"]) == len(whole.body)
    assert streamed.headers["transfer-encoding"] == "chunked"
    assert streamed.trailers["x-rhapsode-duration-ms"] == "750"


@pytest.mark.contract("6.dialogue.as-speak")
async def test_a_conversation_that_fails_is_an_envelope_or_a_cut(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    played: list[int] = []

    def fail_later() -> None:
        played.append(1)
        if len(played) == 2:
            raise RuntimeError("no more")

    maker.on_turn = fail_later
    lines = turns("Hi! " * 200, "Good day.")
    async with on_stage(maker, encoders) as stage:
        answer = await talk(stage, variant="dialled", turns=lines)
        assert (answer.status, answer.code) == (500, "internal")
        played.clear()
        with pytest.raises(UpstreamTruncated):
            await talk(stage, variant="dialled", turns=lines, stream=True, format="pcm")
        assert (await talk(stage)).status == 200


@pytest.mark.contract("6.dialogue.undeclared", "8.dialogue.derived")
async def test_an_engine_without_dialogue_declares_none(encoders: EncoderPool) -> None:
    async with on_stage(Player(), encoders) as stage:
        assert (await talk(stage)).code == "unsupported"
        for variant in (await stage.ask("GET", "/capabilities")).json["variants"].values():
            assert "dialogue" not in variant
