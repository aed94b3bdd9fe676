"""The tone engine. Everything a request may ask for can be heard in a spectrum.

A voice is a frequency, a language an octave, a delivery an amplitude and a tremolo, a cue a short
sound of its own, a seed a slight detuning; the length of a text is the length of the audio. A
clone is as high as its reference, a blend lies between its parts, a dialogue is turn after turn.
"""

import logging
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from random import Random

from rhapsode_contract import UnknownVoice, Unsupported, Voice
from rhapsode_worker.engine import Engine, LicenseFields
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.requests import DialogueRequest, SpeakRequest
from rhapsode_worker.variant import Variant
from rhapsode_worker.voicing.new_voice import NewVoice

from rhapsode_engine_tone.created_voices import CreatedVoices
from rhapsode_engine_tone.pitch import pitch_of
from rhapsode_engine_tone.score import notes_of
from rhapsode_engine_tone.tuning import (
    AMPLITUDES,
    CUES,
    DETUNE_CENTS,
    FRANTIC_TREMOLO_DEPTH,
    FRANTIC_TREMOLO_HZ,
    LANGUAGES,
    TREMOLO_HZ,
    TURN_PAUSE_MS,
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
    max_speakers = 4

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
        """One voice a frequency, the default first, then what callers made.

        A voice made under the id of one of ours stands in its place.
        """
        own = {
            name: Voice(
                id=name,
                label=name.upper(),
                description=f"{hertz:g} Hz",
                spec=f"{name}@{hertz:g}",
                tags=("tone",),
            )
            for name, hertz in VOICES.items()
        }
        return list((own | self._created.listed()).values())

    def create_voice(self, new: NewVoice) -> None:
        """Makes a voice that is as high as the reference."""
        assert new.reference is not None
        self._created.clone(new, new.reference)

    def blend_voice(self, new: NewVoice) -> None:
        """Makes a voice that lies between others, as far as their weights say."""
        assert new.blend is not None
        parts = new.blend.parts
        self._created.blend(new, sum(self._hertz_of(name) * share for name, share in parts))

    def delete_voice(self, voice_id: str) -> None:
        """Deletes what a caller made; one of ours that it stood in for is back."""
        try:
            self._created.delete(voice_id)
        except UnknownVoice:
            if voice_id not in VOICES:
                raise
            raise Unsupported(
                f"{voice_id} is the engine's own and cannot be deleted", field="id"
            ) from None

    def preview(self, voice_id: str) -> Path | None:
        """Returns the recording that a made voice was made from; ours have none."""
        return self._created.path_of(voice_id)

    def speak(self, req: SpeakRequest) -> Generator[bytes, None, None]:
        """Yields tenths of a second as they are made."""
        return self._play(req.variant, len(req.text), lambda rate: self._runs(req, rate))

    def dialogue(self, req: DialogueRequest) -> Generator[bytes, None, None]:
        """Yields turn after turn, each in its speaker's voice, a pause between them."""
        characters = sum(len(turn.text) for turn in req.turns)
        return self._play(req.variant, characters, lambda rate: self._turns(req, rate))

    def _play(
        self, variant: str, characters: int, runs_at: Callable[[int], Iterator[Samples]]
    ) -> Generator[bytes, None, None]:
        native = self.variants()[variant].native_format or self.native_format
        runs = runs_at(native.sample_rate)
        logger.info("speaking %d characters", characters)
        frames = 0
        try:
            for piece in pieces_of(runs, sample_rate=native.sample_rate, channels=native.channels):
                frames += len(piece) // (2 * native.channels)
                yield piece
        except GeneratorExit:
            logger.info("stopped after %d ms of audio", frames * 1000 // native.sample_rate)
            raise
        logger.info("finished %d ms of audio", frames * 1000 // native.sample_rate)

    def _runs(self, req: SpeakRequest, sample_rate: int) -> Iterator[Samples]:
        """Yields each note of the request as samples.

        Raises:
            UnknownVoice: There is no such voice.
        """
        return _notes(req, self._hertz_of(req.voice or next(iter(VOICES))), sample_rate)

    def _turns(self, req: DialogueRequest, sample_rate: int) -> Iterator[Samples]:
        voices = voices_of(req)
        for number, turn in enumerate(req.turns):
            if number:
                yield silence(TURN_PAUSE_MS * sample_rate // 1000)
            line = SpeakRequest(
                text=turn.text,
                variant=req.variant,
                voice=voices[turn.speaker],
                language=req.language,
                params=req.params,
                seed=req.seed,
            )
            yield from self._runs(line, sample_rate)

    def _hertz_of(self, voice_id: str) -> float:
        """Returns how high a voice is.

        Raises:
            UnknownVoice: There is no such voice.
            ValueError: Somebody put a file without a pitch into the voice folder.
        """
        recording = self._created.path_of(voice_id)
        if recording is not None:
            return pitch_of(recording)
        if voice_id not in VOICES:
            raise UnknownVoice(f"voice: there is no {voice_id!r}", field="voice")
        return VOICES[voice_id]

    @cached_property
    def _created(self) -> CreatedVoices:
        return CreatedVoices(self.voice_dir, self.adapter_version)


def voices_of(req: DialogueRequest) -> dict[str, str]:
    """Returns the voice of each speaker.

    One without a voice is given one of ours that nobody else has, drawn by the seed.
    """
    voices = dict(req.voices)
    random = Random(req.seed or 0)
    for turn in req.turns:
        if turn.speaker not in voices:
            free = [name for name in VOICES if name not in voices.values()]
            voices[turn.speaker] = random.choice(free)
    return voices


def _notes(req: SpeakRequest, hertz: float, sample_rate: int) -> Iterator[Samples]:
    """Yields each note of the request as samples, in a voice of `hertz`."""
    random = Random(req.seed)
    cents = 0.0 if req.seed is None else random.uniform(-1, 1) * DETUNE_CENTS
    tone = _tone(req, hertz, cents)
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


def _tone(req: SpeakRequest, hertz: float, cents: float) -> Tone:
    """Returns what words are played in, `cents` away from where it would be."""
    octave = LANGUAGES[req.language] if req.language else 1.0
    cents += 100 * req.params.get("pitch", 0.0)
    gain = 10 ** (req.params.get("gain", 0.0) / 20)
    is_frantic = req.delivery == "frantic"
    depth = FRANTIC_TREMOLO_DEPTH if is_frantic else req.params.get("tremoloDepth", 0.0)
    return Tone(
        hertz=round(hertz * octave * 2 ** (cents / 1200)),
        amplitude=min(1.0, AMPLITUDES[req.delivery] * gain),
        tremolo_hertz=FRANTIC_TREMOLO_HZ if is_frantic else TREMOLO_HZ,
        tremolo_depth=depth,
    )
