"""The library behind the few calls that the adapter makes."""

from typing import Any

import numpy as np
from hibari import SAMPLE_RATE, Hibari

from rhapsode_engine_hibari.breath import Breath
from rhapsode_engine_hibari.level import Audio

SAMPLE_RATE_HZ: int = SAMPLE_RATE

_ONE_THREAD = 1
"""Two were measured at 1.2 times the speed, for twice the processor."""


class Pronunciation:
    """Lexicon, tagger and rules of one accent: from text to phonemes."""

    def __init__(self, *, british: bool) -> None:
        from hibari.g2p import G2P

        self.library: Any = G2P(british=british)
        # Both read their files on first use; the first caller is not to wait for that.
        _ = self.library.oov
        self.library("Hibari.")

    def phonemes_of(self, sentence: str) -> str:
        """Returns the phonemes of a sentence, punctuation among them; empty if it has none."""
        return str(self.library(sentence))


class Model:
    """One voice's network."""

    def __init__(self, voice: str, pronunciation: Pronunciation) -> None:
        self._library: Any = Hibari(voice=voice, threads=_ONE_THREAD, g2p=pronunciation.library)

    def synthesise(self, breath: Breath, *, speed: float, noise: np.random.Generator) -> Audio:
        """Returns the speech of one breath, with the silences that the network puts around it."""
        ids = self._library.ids(breath.phonemes)
        audio: Audio = self._library.from_ids(ids, speed, noise)
        return audio
