"""Voices that callers made. Each is a WAV file, and its pitch is the voice."""

import io
import wave
from pathlib import Path
from typing import Final

from rhapsode_contract import BadRequest, UnknownVoice, Voice
from rhapsode_worker import NewVoice, VoiceStore
from rhapsode_worker.voicing.staging import Staged

from rhapsode_engine_tone.pitch import pitch_of
from rhapsode_engine_tone.waveform import Tone, second_of

_RATE_HZ: Final = 24_000
_AMPLITUDE: Final = 0.5


class CreatedVoices:
    """The voices of one folder."""

    def __init__(self, voice_dir: Path, version: str) -> None:
        self._store = VoiceStore(voice_dir, ("wav",), version)

    def listed(self) -> dict[str, Voice]:
        """Returns each voice as it is listed, by id."""
        return {voice.id: voice for voice in self._store.listed()}

    def path_of(self, voice_id: str) -> Path | None:
        """Returns a voice's recording; None where there is no such voice."""
        try:
            return self._store.get(voice_id).path
        except UnknownVoice:
            return None

    def clone(self, new: NewVoice, reference: Staged) -> None:
        """Makes a voice that is as high as a recording.

        Raises:
            BadRequest: The recording has no pitch.
        """
        try:
            hertz = pitch_of(reference.path)
        except ValueError as error:
            raise BadRequest(f"reference: {error}", field="reference") from None
        self._keep(new, reference, hertz, "cloned")

    def blend(self, new: NewVoice, hertz: float) -> None:
        """Makes a voice of that pitch, and a recording of it."""
        recording = io.BytesIO()
        with wave.open(recording, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(_RATE_HZ)
            file.writeframes(second_of(Tone(round(hertz), _AMPLITUDE), _RATE_HZ).tobytes())
        with self._store.staging.stage("wav") as staged:
            staged.write(recording.getvalue())
            self._keep(new, staged, hertz, "blended")

    def delete(self, voice_id: str) -> None:
        """Deletes a voice.

        Raises:
            UnknownVoice: Nobody made one of this id.
        """
        self._store.delete(voice_id)

    def _keep(self, new: NewVoice, staged: Staged, hertz: float, how: str) -> None:
        self._store.create(
            new.id,
            staged,
            label=new.label,
            description=f"{round(hertz)} Hz",
            tags=("tone", how),
            transcript=new.transcript,
        )
