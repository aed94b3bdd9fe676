"""Hibari behind the worker protocol."""

import logging
from collections.abc import Iterator
from importlib.metadata import version

import numpy as np
from rhapsode_contract import BadRequest, Voice
from rhapsode_worker.engine import Engine, LicenseFields
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.reading import Breath, breaths_of, sentences_of
from rhapsode_worker.reading.breath import MAX_PHONEMES
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.variant import Variant

from rhapsode_engine_hibari.level import levelled, trimmed
from rhapsode_engine_hibari.library import SAMPLE_RATE_HZ, Model, Pronunciation
from rhapsode_engine_hibari.pace import model_speed
from rhapsode_engine_hibari.voices import HibariVoice, chosen, voices_here

logger = logging.getLogger(__name__)

VARIANT = "int8"
"""The one build there is: every voice's weights are 8-bit integers."""

_SEED_BITS = 64


class HibariEngine(Engine):
    """Speaks English, a sentence at a time."""

    id = "hibari"
    display_name = "Hibari"
    license = LicenseFields(
        code=(
            "Apache-2.0 AND MIT AND BSD-3-Clause AND 0BSD AND Zlib AND CC0-1.0 AND PSF-2.0"
            " AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1"
        ),
        weights="Apache-2.0",
        weights_commercial_use=True,
        notes=(
            "Hibari itself is Apache-2.0. On Linux numpy's wheels bring libquadmath"
            " (LGPL-2.1-or-later) and libgfortran (GPL-3.0-or-later with GCC's exception for"
            " programs that use it). https://github.com/MMWilliams/hibari"
        ),
    )
    native_format = NativeFormat(encoding="pcm_s16le", sample_rate=SAMPLE_RATE_HZ, channels=1)
    adapter_version = version("rhapsode-engine-hibari")
    upstream_version = version("hibari-tts")
    device_types = ("cpu",)

    def __init__(self) -> None:
        self._pronunciations: dict[bool, Pronunciation] = {}
        self._models: dict[str, Model] = {}

    def variants(self) -> dict[str, Variant]:
        """One; `en` is whatever English the voice speaks."""
        languages = dict.fromkeys(voice.language for voice in voices_here().values())
        return {
            VARIANT: Variant(
                dials={"speed": (0.5, 2.0, 1.0)},
                languages=("en", *languages),
                # Sentences are its own, since they share one stream of noise. A longer one is cut
                # by its phonemes, which English has about as many of as characters.
                segment_characters=MAX_PHONEMES,
                has_own_loop=True,
                streaming="sentence",
            )
        }

    def load(self, variant: str) -> None:
        """Loads the default voice; another one is loaded when it is first asked for."""
        self._model_of(chosen(voices_here(), None, None))

    def unload(self) -> None:
        """Lets go of every voice."""
        self._models.clear()
        self._pronunciations.clear()

    def voices(self) -> list[Voice]:
        """The voices whose weights are on this machine."""
        return [voice.listed() for voice in voices_here().values()]

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        """Yields each sentence as soon as it is made.

        Raises:
            UnknownVoice: The voice is not on this machine.
            Unsupported: It speaks another English.
            BadRequest: Nothing of the text can be pronounced.
        """
        voice = chosen(voices_here(), req.voice, req.language)
        model = self._model_of(voice)
        # One stream of noise for the whole text: the sentences differ, the request repeats.
        noise = np.random.default_rng(None if req.seed is None else req.seed % 2**_SEED_BITS)
        speed = model_speed(req.params.get("speed", 1.0))
        is_silent = True
        for breath in self._breaths(req.text, self._pronunciations[voice.is_british]):
            made = model.synthesise(breath.phonemes, speed=speed, noise=noise)
            audio = trimmed(made, SAMPLE_RATE_HZ, breath.ending)
            if len(audio):
                is_silent = False
                yield from self.pcm_of(levelled(audio))
        if is_silent:
            raise BadRequest(
                "text: there is nothing in it that this engine can pronounce; it speaks English",
                field="text",
            )

    def _breaths(self, text: str, pronunciation: Pronunciation) -> Iterator[Breath]:
        """Yields what to say. A sentence without a word to pronounce, of emoji say, is silent."""
        for sentence in sentences_of(text):
            yield from breaths_of(pronunciation.phonemes_of(sentence))

    def _model_of(self, voice: HibariVoice) -> Model:
        if voice.id not in self._models:
            if voice.is_british not in self._pronunciations:
                self._pronunciations[voice.is_british] = Pronunciation(british=voice.is_british)
            self._models[voice.id] = Model(voice.id, self._pronunciations[voice.is_british])
            logger.info("loaded the voice %s", voice.id)
        return self._models[voice.id]
