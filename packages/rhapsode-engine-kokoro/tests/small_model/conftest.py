"""An engine with the small model in it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from rhapsode_contract import UnknownVoice, Unsupported
from rhapsode_engine_kokoro import KokoroEngine

from .release import small_release


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KokoroEngine]:
    """Loaded once, since the front end takes a second."""
    folder = tmp_path_factory.mktemp("kokoro")
    engine = KokoroEngine({}, small_release())
    engine.voice_dir = folder / "voices"
    engine.weights_dir = folder / "weights"
    engine.load("fp16")
    yield engine
    engine.unload()


@pytest.fixture
def engine(loaded: KokoroEngine) -> Iterator[KokoroEngine]:
    """In half precision, without created voices."""
    loaded.variant = "fp16"
    yield loaded
    for voice in loaded.voices():
        with suppress(Unsupported, UnknownVoice):
            loaded.delete_voice(voice.id)


@pytest.fixture
def empty(tmp_path: Path) -> KokoroEngine:
    """Neither loaded nor fetched."""
    engine = KokoroEngine({}, small_release())
    engine.voice_dir = tmp_path / "voices"
    engine.weights_dir = tmp_path / "weights"
    return engine
