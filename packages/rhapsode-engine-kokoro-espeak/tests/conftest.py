"""The engine with the small model of Kokoro's own tests in it: all of it but the sound."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest
from rhapsode_engine_kokoro.release import Release
from rhapsode_engine_kokoro_espeak import KokoroEspeakEngine

KOKORO_TESTS: Final = Path(__file__).parents[2] / "rhapsode-engine-kokoro" / "tests"


def small_release() -> Release:
    """Returns graphs and voices that are small and random."""
    if str(KOKORO_TESTS) not in sys.path:
        sys.path.insert(0, str(KOKORO_TESTS))
    made: Callable[[], Release] = import_module("small_model.release").small_release
    return made()


@pytest.fixture(scope="session")
def kokoro_tests() -> str:
    """Where the small model lies, for a process that is to import it."""
    return str(KOKORO_TESTS)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KokoroEspeakEngine]:
    """In half precision; loaded once, since the English front end takes a second."""
    folder = tmp_path_factory.mktemp("kokoro-espeak")
    engine = KokoroEspeakEngine({}, small_release())
    engine.voice_dir = folder / "voices"
    engine.weights_dir = folder / "weights"
    engine.load("fp16")
    engine.variant = "fp16"
    yield engine
    engine.unload()
