"""The tone engine. Everything a request may ask for can be heard in a spectrum.

A voice is a frequency, a language an octave, a delivery an amplitude and a tremolo, a cue a short
sound of its own, a seed a slight detuning; the length of a text is the length of the audio.
"""

import logging
from collections.abc import Generator, Iterator
from dataclasses import replace
from random import Random

from rhapsode_contract import UnknownVoice, Voice
from rhapsode_worker.engine import Engine, LicenseFields
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.variant import Variant

from rhapsode_engine_tone.score import notes_of
from rhapsode_engine_tone.tuning import (
    AMPLITUDES,
    CUES,
    DETUNE_CENTS,
    FRANTIC_TREMOLO_DEPTH,
    FRANTIC_TREMOLO_HZ,
    LANGUAGES,
    TREMOLO_HZ,
    VOICES,
)
from rhapsode_engine_tone.waveform import Samples, Tone, burst, pieces_of, silence

logger = logging.getLogger("rhapsode_engine_tone")


class ToneEngine(Engine):
    """Plays a tone for every word."""

    id = "tone"
    display_name = "Tone"
    license = LicenseFields(
        code="MIT AND BSD-3-Clause AND Apache-2.0 AND PSF-2.0",
        weights="none",
        weights_commercial_use=True,
        notes="The engine is MIT; the rest is what the server inside a worker is made of.",
    )
    native_format = NativeFormat(encoding="pcm_s16le", sample_rate=24_000, channels=1)
    device_types = ("cpu",)

    def variants(self) -> dict[str, Variant]:
        """One that does nothing special first, then one for each thing a variant may do."""
        return {
            "plain": Variant(),
            "dialled": Variant(
                cues=tuple(CUES),
                deliveries=("hushed", "frantic"),
                dials={
                    "pitch": (-12.0, 12.0, 0.0),
                    "gain": (-40.0, 6.0, 0.0),
                    "speed": (0.5, 2.0, 1.0),
                    "tremoloDepth": (0.0, 1.0, 0.0),
                },
            ),
            "polyglot": Variant(languages=tuple(LANGUAGES), deliveries=("hushed",)),
            "brief": Variant(max_characters=40, streaming=None),
            "stereo": Variant(
                native_format=NativeFormat(encoding="pcm_s16le", sample_rate=22_050, channels=2)
            ),
        }

    def load(self, variant: str) -> None:
        """Has nothing to load; tones are made as they are asked for."""
        logger.info("loaded %s", variant)

    def unload(self) -> None:
        """Has nothing to free."""
        logger.info("unloaded")

    def voices(self) -> list[Voice]:
        """One voice a frequency, the default first."""
        return [
            Voice(
                id=name,
                label=name.upper(),
                description=f"{hertz:g} Hz",
                spec=f"{name}@{hertz:g}",
                tags=("tone",),
            )
            for name, hertz in VOICES.items()
        ]

    def speak(self, req: SpeakRequest) -> Generator[bytes, None, None]:
        """Yields tenths of a second as they are made."""
        native = self.variants()[req.variant].native_format or self.native_format
        runs = _runs(req, native.sample_rate)
        logger.info("speaking %d characters", len(req.text))
        frames = 0
        try:
            for piece in pieces_of(runs, sample_rate=native.sample_rate, channels=native.channels):
                frames += len(piece) // (2 * native.channels)
                yield piece
        except GeneratorExit:
            logger.info("stopped after %d ms of audio", frames * 1000 // native.sample_rate)
            raise
        logger.info("finished %d ms of audio", frames * 1000 // native.sample_rate)


def _runs(req: SpeakRequest, sample_rate: int) -> Iterator[Samples]:
    """Yields each note of the request as samples.

    Raises:
        UnknownVoice: There is no such voice.
    """
    random = Random(req.seed)
    tone = _tone(req, cents=0.0 if req.seed is None else random.uniform(-1, 1) * DETUNE_CENTS)
    # A seed also says where in its cycle the tone begins, so that no two sound alike to the byte.
    at = 0 if req.seed is None else random.randrange(sample_rate)
    milliseconds = 0.0
    frames = 0
    for note in notes_of(req.text, speed=req.params.get("speed", 1.0)):
        # Counted from the start, so that roundings never add up.
        milliseconds += note.milliseconds
        length = round(milliseconds * sample_rate / 1000) - frames
        if note.is_silent:
            yield silence(length)
        else:
            sounding = replace(tone, hertz=CUES[note.cue]) if note.cue else tone
            yield burst(sounding, length, sample_rate, start=at + frames)
        frames += length


def _tone(req: SpeakRequest, *, cents: float) -> Tone:
    """Returns what words are played in, `cents` away from where it would be."""
    voice = req.voice or next(iter(VOICES))
    if voice not in VOICES:
        raise UnknownVoice(
            f"voice: there is no {voice!r}; there are {', '.join(VOICES)}", field="voice"
        )
    octave = LANGUAGES[req.language] if req.language else 1.0
    cents += 100 * req.params.get("pitch", 0.0)
    gain = 10 ** (req.params.get("gain", 0.0) / 20)
    is_frantic = req.delivery == "frantic"
    depth = FRANTIC_TREMOLO_DEPTH if is_frantic else req.params.get("tremoloDepth", 0.0)
    return Tone(
        hertz=round(VOICES[voice] * octave * 2 ** (cents / 1200)),
        amplitude=min(1.0, AMPLITUDES[req.delivery] * gain),
        tremolo_hertz=FRANTIC_TREMOLO_HZ if is_frantic else TREMOLO_HZ,
        tremolo_depth=depth,
    )
