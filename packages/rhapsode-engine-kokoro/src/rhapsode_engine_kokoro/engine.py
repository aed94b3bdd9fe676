"""Kokoro behind the worker protocol."""

import logging
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import version
from types import MappingProxyType
from typing import Final

from rhapsode_contract import BadRequest, Voice
from rhapsode_worker import Engine, LicenseFields, NativeFormat, NewVoice, SpeakRequest, Variant
from rhapsode_worker.weights import Weights

from rhapsode_engine_kokoro.graph import SAMPLE_RATE_HZ, Graph, Stopped
from rhapsode_engine_kokoro.level import levelled, trimmed
from rhapsode_engine_kokoro.phrases import (
    FIRST_SEGMENT_CHARACTERS,
    JOINT_SILENCE_MS,
    SEGMENT_CHARACTERS,
    phrases_of,
)
from rhapsode_engine_kokoro.pronunciation import Pronunciation
from rhapsode_engine_kokoro.release import RELEASE, Release
from rhapsode_engine_kokoro.roster import READABLE
from rhapsode_engine_kokoro.voices import REFERENCE_TYPES, Voices

logger = logging.getLogger(__name__)

_NO_ENVIRON: Final[Mapping[str, str]] = MappingProxyType({})


class KokoroEngine(Engine):
    """Speaks English, American and British, a phrase at a time."""

    id = "kokoro"
    display_name = "Kokoro"
    license = LicenseFields(
        code=(
            "Apache-2.0 AND MIT AND BSD-3-Clause AND 0BSD AND Zlib AND CC0-1.0 AND PSF-2.0"
            " AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1"
        ),
        weights="Apache-2.0",
        weights_commercial_use=True,
        notes=(
            "Text becomes phonemes by hibari-tts (Apache-2.0); eSpeak NG is not in this process."
            " On Linux numpy's wheels bring libquadmath (LGPL-2.1-or-later) and libgfortran"
            " (GPL-3.0-or-later with GCC's exception for programs that use it)."
            " https://huggingface.co/hexgrad/Kokoro-82M"
        ),
    )
    native_format = NativeFormat(encoding="pcm_s16le", sample_rate=SAMPLE_RATE_HZ, channels=1)
    adapter_version = version("rhapsode-engine-kokoro")
    upstream_version = "1.0"
    device_types = ("cpu",)
    reference_formats = REFERENCE_TYPES

    def __init__(
        self, environ: Mapping[str, str] = _NO_ENVIRON, release: Release = RELEASE
    ) -> None:
        """Args:
        environ: The worker's variables, for whatever downloads the weights.
        release: The weights.
        """
        self._environ = environ
        self._release = release
        self._graph: Graph | None = None
        self._pronunciations: dict[str, Pronunciation] = {}

    def variants(self) -> dict[str, Variant]:
        """The same model in three precisions; `en` is whatever English the voice speaks."""
        variant = Variant(
            dials={"speed": (0.5, 2.0, 1.0)},
            languages=("en", *READABLE),
            segment_characters=SEGMENT_CHARACTERS,
            first_segment_characters=FIRST_SEGMENT_CHARACTERS,
            joint_silence_ms=JOINT_SILENCE_MS,
            has_own_loop=True,  # a text is read before it is split: see `phrases_of`
            streaming="sentence",
        )
        return dict.fromkeys(self._release.graphs, variant)

    def fetch(self, variant: str) -> None:
        """Downloads a variant's graph, and the voices where no other variant has brought them."""
        self._weights(variant).fetch(should_stop=self.is_fetch_abandoned)

    def load(self, variant: str) -> None:
        """Loads the graph, the voices and both pronunciations, fetched first if need be."""
        weights = self._weights(variant)
        if not weights.is_complete():
            self.fetch(variant)
        self._voices.load()
        self._pronunciations = {
            language: Pronunciation(british=language == "en-GB") for language in READABLE
        }
        self._graph = Graph(weights.path_of(self._release.graphs[variant].name))

    def unload(self) -> None:
        """Lets go of the graph; the voices stay, since blends are made of them."""
        self._graph = None
        self._pronunciations = {}

    def voices(self) -> list[Voice]:
        """The voices whose language can be read here, then what callers made."""
        return self._voices.listed(self.variant or next(iter(self._release.graphs)))

    def create_voice(self, new: NewVoice) -> None:
        """Makes a voice of the style vectors of a `.npy` or a `.pt` file."""
        self._voices.clone(new)

    def blend_voice(self, new: NewVoice) -> None:
        """Makes a voice of others' style vectors, which needs the voices and no graph."""
        self._voices.blend(new)

    def delete_voice(self, voice_id: str) -> None:
        """Deletes what a caller made."""
        self._voices.delete(voice_id)

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        """Yields each phrase as soon as it is made.

        Raises:
            UnknownVoice: There is no such voice.
            BadRequest: Nothing of the text can be pronounced.
        """
        assert self._graph is not None
        language = req.language if req.language in READABLE else None
        voice = self._voices.chosen(req.voice, language)
        styles = self._voices.styles_of(voice)
        pronunciation = self._pronunciations[language or self._voices.language_of(voice)]
        speed = req.params.get("speed", 1.0)
        is_silent = True
        for phrase in phrases_of(req.text, pronunciation.phonemes_of):
            try:
                made = self._graph.synthesise(phrase.phonemes, styles, speed, req.is_abandoned)
            except Stopped:
                logger.info("stopped in the midst of a phrase: the listener left")
                return
            audio = trimmed(made, SAMPLE_RATE_HZ)
            if len(audio):
                is_silent = False
                yield self.native_format.silence(round(phrase.pause_ms / speed))
                yield from self.pcm_of(levelled(audio))
        if is_silent:
            raise BadRequest(
                "text: there is nothing in it that this engine can pronounce; it reads English",
                field="text",
            )

    def _weights(self, variant: str) -> Weights:
        files = self._release.files_of(variant)
        return Weights(self.weights_dir, files, environ=self._environ)

    @cached_property
    def _voices(self) -> Voices:
        file = self._release.voices
        versions = (self.adapter_version, version("hibari-tts"))
        return Voices(self.voice_dir, self.weights_dir / file.name, file.sha256, *versions)
