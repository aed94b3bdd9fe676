"""The adapter: everything but how it sounds."""

from array import array
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rhapsode_contract import BadRequest, UnknownVoice
from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_engine_kokoro.graph import Graph, Stopped
from rhapsode_engine_kokoro.phrases import phrases_of
from rhapsode_engine_kokoro.roster import READABLE
from rhapsode_engine_kokoro.styles import ROWS, WIDTH
from rhapsode_worker.requests import SpeakRequest

from .graph import small_graph

SENTENCE = "The birch canoe slid on the smooth planks."


def say(engine: KokoroEngine, text: str, **fields: object) -> "array[int]":
    request = replace(SpeakRequest(text, "fp16"), **fields)  # type: ignore[arg-type]  # by name
    return array("h", b"".join(engine.speak(request)))


@pytest.mark.parametrize("variant", ["fp16", "fp32"])
def test_it_speaks_in_every_precision(empty: KokoroEngine, variant: str) -> None:
    empty.load(variant)
    assert len(say(empty, SENTENCE)) > 24_000


def test_the_default_variant_is_half_precision(engine: KokoroEngine) -> None:
    assert next(iter(engine.variants())) == "fp16"
    assert next(iter(KokoroEngine().variants())) == "fp16"


def test_a_fetch_loads_nothing_and_a_load_brings_what_was_never_fetched(
    empty: KokoroEngine,
) -> None:
    empty.fetch("fp32")
    brought = sorted(path.name for path in empty.weights_dir.glob("[!.]*"))
    assert brought == ["fp32.onnx", "voices.f32"]
    empty.load("fp16")
    assert (empty.weights_dir / "fp16.onnx").exists()


def test_the_same_request_sounds_the_same_whatever_the_seed(engine: KokoroEngine) -> None:
    assert say(engine, SENTENCE, seed=1) == say(engine, SENTENCE, seed=2)


def test_speed_stretches_and_squeezes(engine: KokoroEngine) -> None:
    ordinary = len(say(engine, "Hello there."))
    assert len(say(engine, "Hello there.", params={"speed": 0.5})) > 1.7 * ordinary
    assert len(say(engine, "Hello there.", params={"speed": 2.0})) < 0.7 * ordinary


def test_voices_differ(engine: KokoroEngine) -> None:
    assert say(engine, SENTENCE, voice="af_heart") == say(engine, SENTENCE)
    assert say(engine, SENTENCE, voice="am_adam") != say(engine, SENTENCE)


def test_a_language_without_a_voice_takes_the_first_that_speaks_it(engine: KokoroEngine) -> None:
    said = say(engine, "schedule", language="en-GB")
    assert said == say(engine, "schedule", language="en-GB", voice="bf_alice")
    assert said != say(engine, "schedule", language="en-US", voice="bf_alice")


def test_a_british_voice_reads_as_the_british_do(engine: KokoroEngine) -> None:
    said = say(engine, "Schedule.", voice="bf_emma")
    assert said == say(engine, "Schedule.", voice="bf_emma", language="en-GB")
    assert said != say(engine, "Schedule.", voice="bf_emma", language="en-US")


@pytest.mark.contract("7.unknown.no-substitute")
@pytest.mark.parametrize("voice", ["alloy", "ef_dora", "../af_heart", "af_heart(1)"])
def test_a_voice_that_is_not_here_is_unknown(engine: KokoroEngine, voice: str) -> None:
    with pytest.raises(UnknownVoice):
        say(engine, SENTENCE, voice=voice)


def test_only_languages_that_can_be_read_here_are_claimed_or_spoken(engine: KokoroEngine) -> None:
    assert engine.variants()["fp16"].languages == ("en", "en-US", "en-GB")
    languages = {(voice.tags or ("none",))[0] for voice in engine.voices()}
    assert languages == set(READABLE)
    assert len(engine.voices()) == 28


@pytest.mark.parametrize("text", ["你好，世界。", "Здравствуйте!", "🙂", "?!", "<b></b>"])
def test_what_cannot_be_pronounced_is_refused_by_name(engine: KokoroEngine, text: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        say(engine, text)
    assert refusal.value.field == "text"


@pytest.mark.contract("5.cues.foreign-tags")
def test_phonemes_cannot_be_slipped_in(engine: KokoroEngine) -> None:
    assert say(engine, "[banana](/həlˈO/) bread.") == say(engine, "banana bread.")
    assert say(engine, "&#91;banana](/həlˈO/) bread.") != say(engine, "hello bread.")


def test_a_long_tag_is_cut_by_no_segment(engine: KokoroEngine) -> None:
    link = f'<a href="{"x" * 300}">{SENTENCE}</a>'
    assert say(engine, link) == say(engine, SENTENCE)


def test_the_first_phrase_is_heard_before_the_last_is_made(engine: KokoroEngine) -> None:
    asked: list[str] = []
    request = SpeakRequest(SENTENCE * 20, "fp16", is_abandoned=lambda: bool(asked.append("")))
    pieces = engine.speak(request)
    assert len(next(piece for piece in pieces if piece)) < 5 * 48_000


def test_a_graph_that_takes_other_inputs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(small_graph("float32", phonemes="words"))
    with pytest.raises(ValueError, match="words"):
        Graph(path)


def test_newer_exports_name_the_phonemes_differently(tmp_path: Path) -> None:
    path = tmp_path / "newer.onnx"
    path.write_bytes(small_graph("float32", phonemes="input_ids"))
    assert Graph(path)


def test_phrases_hold_all_of_a_text_in_order() -> None:
    text = f"{SENTENCE} {SENTENCE}\n\nA heading\n\n{SENTENCE}"
    said = " ".join(phrase.phonemes for phrase in phrases_of(text, lambda sentence: sentence))
    assert said.replace("heading.", "heading").split() == text.split()


def test_a_run_is_ended_in_its_midst_when_nobody_listens(tmp_path: Path) -> None:
    path = tmp_path / "graph.onnx"
    path.write_bytes(small_graph("float32"))
    graph, styles = Graph(path), np.ones((ROWS, WIDTH), np.float32)
    # At this speed a run takes far longer than the wait between two looks.
    with pytest.raises(Stopped):
        graph.synthesise("ə" * 500, styles, 0.01, lambda: True)
    assert len(graph.synthesise("ə", styles, 1.0, lambda: True))


def test_a_stopped_utterance_ends_without_an_error(engine: KokoroEngine) -> None:
    request = SpeakRequest("ə" * 500, "fp16", params={"speed": 0.01}, is_abandoned=lambda: True)
    request = replace(request, text=SENTENCE * 50)
    assert len(b"".join(engine.speak(request))) < 100_000_000
