"""From English to phonemes, without eSpeak: the lexicon, tagger and rules of hibari.

The only module that imports it. Its phonemes are misaki's, which the model was trained on.
"""
# It has no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from pathlib import Path
from typing import Any

from hibari.g2p import ASSETS, G2P
from hibari.g2p.oov import OOV
from rhapsode_worker.reading import PartByPart, with_last_words_kept


class Pronunciation:
    """How one accent says words."""

    def __init__(self, *, british: bool) -> None:
        name = "oov_gb.onnx" if british else "oov.onnx"
        unknown = PartByPart(OOV(str(Path(ASSETS) / name)))
        self._library: Any = G2P(oov=unknown, british=british)

    def phonemes_of(self, sentence: str) -> str:
        """Returns the phonemes of a sentence, punctuation among them; empty if it has none."""
        return str(self._library(with_last_words_kept(sentence)))
