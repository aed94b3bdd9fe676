"""Tones whose voices are made of tensors, as torch and numpy write them."""

from functools import cached_property

from rhapsode_engine_tone import ToneEngine
from rhapsode_worker import NewVoice, Voice, VoiceStore, serve
from rhapsode_worker.voicing.npy import read_npy
from rhapsode_worker.voicing.voicepack import read_voicepack


class Packs(ToneEngine):
    """Keeps what it can read; it sounds no different."""

    id = "packs"
    reference_formats = ("pt", "npy")

    def voices(self) -> list[Voice]:
        return self._packs.listed()

    def create_voice(self, new: NewVoice) -> None:
        assert new.reference is not None
        read = read_voicepack if new.reference.path.suffix == ".pt" else read_npy
        read(new.reference.path.read_bytes())
        self._packs.create(new.id, new.reference, label=new.label)

    @cached_property
    def _packs(self) -> VoiceStore:
        return VoiceStore(self.voice_dir, self.reference_formats, self.adapter_version)


if __name__ == "__main__":
    serve(Packs())
