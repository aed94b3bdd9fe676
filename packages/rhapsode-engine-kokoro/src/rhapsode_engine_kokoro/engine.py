"""Kokoro behind the worker protocol."""

import logging
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import version
from types import MappingProxyType
from typing import ClassVar, Final

import numpy as np
from rhapsode_contract import BadRequest, Voice
from rhapsode_worker import Engine, LicenseFields, NativeFormat, NewVoice, SpeakRequest, Variant
from rhapsode_worker.weights import Weights

from rhapsode_engine_kokoro.graph import SAMPLE_RATE_HZ, Graph, Stopped
from rhapsode_engine_kokoro.level import levelled, trimmed
from rhapsode_engine_kokoro.phrases import (
    FIRST_SEGMENT_CHARACTERS,
    JOINT_SILENCE_MS,
    SEGMENT_CHARACTERS,
    PhonemesOf,
    phrases_of,
)
from rhapsode_engine_kokoro.pronunciation import Pronunciation
from rhapsode_engine_kokoro.release import RELEASE, Release
from rhapsode_engine_kokoro.roster import LANGUAGE_NAMES, READABLE
from rhapsode_engine_kokoro.voices import REFERENCE_TYPES, Voices

logger = logging.getLogger(__name__)

_NO_ENVIRON: Final[Mapping[str, str]] = MappingProxyType({})


class KokoroEngine(Engine):
    """Speaks English, American and British, a phrase at a time.

    An engine that can read more languages is one of these with more `pronunciations`.
    """

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

    reads: ClassVar[tuple[str, ...]] = READABLE
    """The languages whose text it can turn into phonemes; the default first."""

    general_tags: ClassVar[tuple[str, ...]] = ("en",)
    """Listed before them: languages that leave the choice to the voice, the first of them where a
    request names none. `en` is whatever English it speaks, `mul` whatever language."""

    front_end_versions: ClassVar[tuple[str, ...]] = (version("hibari-tts"),)
    """Of what the phonemes, and so a rendering, depend on."""

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
        self._pronunciations: dict[str, PhonemesOf] = {}

    def pronunciations(self) -> dict[str, PhonemesOf]:
        """Returns how each language of `reads` becomes phonemes; loads what that takes."""
        return {
            language: Pronunciation(british=language == "en-GB").phonemes_of
            for language in READABLE
        }

    def variants(self) -> dict[str, Variant]:
        """The same model in three precisions."""
        variant = Variant(
            dials={"speed": (0.5, 2.0, 1.0)},
            languages=(*self.general_tags, *self.reads),
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
        """Loads the graph, the voices and the pronunciations, fetched first if need be."""
        weights = self._weights(variant)
        if not weights.is_complete():
            self.fetch(variant)
        self._voices.load()
        self._pronunciations = self.pronunciations()
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
            BadRequest: Nothing of the text can be pronounced, or nothing comes of the voice.
        """
        assert self._graph is not None
        voice = self._voices.chosen(req.voice, req.language)
        styles = self._voices.styles_of(voice)
        language = self._language_for(req.language, voice)
        speed = req.params.get("speed", 1.0)
        is_silent, has_phonemes = True, False
        for phrase in phrases_of(req.text, self._pronunciations[language], language):
            try:
                made = self._graph.synthesise(phrase.phonemes, styles, speed, req.is_abandoned)
            except Stopped:
                logger.info("stopped in the midst of a phrase: the listener left")
                return
            has_phonemes = True
            if not np.isfinite(made).all():
                raise _no_voice(voice)
            audio = trimmed(made, SAMPLE_RATE_HZ)
            if len(audio):
                is_silent = False
                yield self.native_format.silence(round(phrase.pause_ms / speed))
                yield from self.pcm_of(levelled(audio))
        if is_silent and has_phonemes:
            raise _no_voice(voice)
        if is_silent:
            raise BadRequest(
                f"text: there is nothing in it that can be said in {LANGUAGE_NAMES[language]}",
                field="text",
            )

    def _language_for(self, asked: str | None, voice: str) -> str:
        """Returns which of `reads` the text is in: the one asked for, else the voice's own."""
        if asked in self.reads:
            return asked
        own = self._voices.language_of(voice)
        # A voice of another language reads English as it is told to.
        return READABLE[0] if asked == "en" and own not in READABLE else own

    def _weights(self, variant: str) -> Weights:
        files = self._release.files_of(variant)
        return Weights(self.weights_dir, files, environ=self._environ)

    @cached_property
    def _voices(self) -> Voices:
        file = self._release.voices
        return Voices(
            self.voice_dir,
            self.weights_dir / file.name,
            file.sha256,
            self.adapter_version,
            *self.front_end_versions,
            languages=self.reads,
        )


def _no_voice(voice: str) -> BadRequest:
    """Returns the error of style vectors that are no voice's, though they have the shape of one."""
    return BadRequest(
        f"voice: of the style vectors of {voice!r} the model makes no sound; it was made from"
        " numbers that are no voice",
        field="voice",
    )
