"""A player with every verb that an adapter may add."""

from collections.abc import Callable, Iterator
from pathlib import Path

from rhapsode_contract import BadRequest, Unsupported, Voice
from rhapsode_worker.requests import DialogueRequest, SpeakRequest
from rhapsode_worker.voicing.new_voice import NewVoice
from rhapsode_worker.voicing.store import VoiceStore

from .player import VOICES, Player, tone

TYPES = ("wav", "npy")


def clip(hertz: int) -> bytes:
    """Returns a reference of a voice of that pitch."""
    return b"RIFF\0\0\0\0WAVE%d" % hertz


class Maker(Player):
    """Keeps voices in a store; the pitch of one stands in its reference."""

    reference_formats = TYPES
    max_speakers = 3

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.voice_dir = folder / "voices"
        self.store = VoiceStore(self.voice_dir, TYPES, "1")
        self.on_create: Callable[[NewVoice], None] = lambda _: None
        self.on_fetch: Callable[[str], None] = lambda _: None
        self.on_turn: Callable[[], None] = lambda: None

    def voices(self) -> list[Voice]:
        own = {voice.id: voice for voice in super().voices()}
        return list((own | {voice.id: voice for voice in self.store.listed()}).values())

    def create_voice(self, new: NewVoice) -> None:
        assert new.reference is not None
        self._note(f"create {new.id}")
        self.on_create(new)
        if not new.reference.path.read_bytes().startswith(b"RIFF"):
            raise BadRequest("reference: holds no pitch", field="reference")
        self.store.create(
            new.id, new.reference, label=new.label, transcript=new.transcript, tags=("cloned",)
        )

    def blend_voice(self, new: NewVoice) -> None:
        assert new.blend is not None
        self._note(f"blend {new.id}")
        hertz = sum(self.hertz_of(name) * share for name, share in new.blend.parts)
        with self.store.staging.stage("npy") as staged:
            staged.write(clip(round(hertz)))
            self.store.create(new.id, staged, label=new.label, tags=("blended",))

    def delete_voice(self, voice_id: str) -> None:
        if voice_id in VOICES:
            raise Unsupported("it is the engine's own", field="id")
        self.store.delete(voice_id)

    def preview(self, voice_id: str) -> Path | None:
        """A reference can be heard; a blend cannot."""
        if voice_id in VOICES:
            return None
        path = self.store.get(voice_id).path
        return path if path.suffix == ".wav" else None

    def fetch(self, variant: str) -> None:
        self._note(f"fetch {variant}")
        self.on_fetch(variant)

    def dialogue(self, req: DialogueRequest) -> Iterator[bytes]:
        self._note("dialogue " + " / ".join(turn.text for turn in req.turns))
        picked = ("bert", "zoe")[(req.seed or 0) % 2]
        for turn in req.turns:
            self.on_turn()
            voice = req.voices.get(turn.speaker, picked)
            yield from self.play(SpeakRequest(turn.text, req.variant, voice, seed=req.seed))

    def play(self, request: SpeakRequest) -> Iterator[bytes]:
        native = self.variants()[request.variant].native_format or self.native_format
        yield tone(request, native, self.hertz_of(request.voice or "ann"))

    def hertz_of(self, voice_id: str) -> int:
        """Returns the pitch of a voice.

        Raises:
            UnknownVoice: There is none of this id.
        """
        if voice_id in VOICES:
            return VOICES[voice_id]
        return int(self.store.get(voice_id).path.read_bytes().rpartition(b"WAVE")[2])
