"""The library, behind the few calls that the adapter makes of it.

The only module that imports it.
"""
# It has no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypedDict, cast

import numpy as np
from hibari import SAMPLE_RATE, Hibari
from hibari import voices as library_voices
from hibari.g2p import ASSETS, G2P
from hibari.g2p.oov import OOV
from rhapsode_worker.loudness import Audio
from rhapsode_worker.reading import PartByPart, with_last_words_kept

SAMPLE_RATE_HZ: Final = int(SAMPLE_RATE)

_ONE_THREAD: Final = 1
"""A second one is 1.2 times as fast at best, and slower where the cores have other work."""


class Registered(TypedDict):
    """A voice as the library's register describes it."""

    language: str
    """`en-US` or `en-GB`."""
    accent: str
    gender: str
    bytes: int
    """Size of its weights."""
    sha256: str
    british: bool
    """Which of the two sets of pronunciations it was trained on."""


def register() -> Mapping[str, Registered]:
    """Returns every voice the library knows of, here or not, its default first."""
    return cast(Mapping[str, Registered], library_voices.VOICES)


def weights_path(voice: str) -> Path:
    """Returns where a voice's weights lie; opens no connection.

    Raises:
        FileNotFoundError: They are not on this machine.
    """
    return Path(library_voices.voice_path(voice, download_missing=False))


class Pronunciation:
    """Lexicon, tagger and rules of one accent: from text to phonemes."""

    def __init__(self, *, british: bool) -> None:
        name = "oov_gb.onnx" if british else "oov.onnx"
        unknown = PartByPart(OOV(str(Path(ASSETS) / name)))
        self.library: Any = G2P(oov=unknown, british=british)

    def phonemes_of(self, sentence: str) -> str:
        """Returns the phonemes of a sentence, punctuation among them; empty if it has none."""
        return str(self.library(with_last_words_kept(sentence)))


class Model:
    """One voice's network."""

    def __init__(self, voice: str, pronunciation: Pronunciation) -> None:
        self._library: Any = Hibari(voice=voice, threads=_ONE_THREAD, g2p=pronunciation.library)

    def synthesise(self, phonemes: str, *, speed: float, noise: np.random.Generator) -> Audio:
        """Returns the speech of `phonemes`, with the silences that the network puts around it."""
        audio: Audio = self._library.from_ids(self._library.ids(phonemes), speed, noise)
        return audio
