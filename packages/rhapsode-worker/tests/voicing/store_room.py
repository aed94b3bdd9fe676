"""What the tests of the store look at."""

from pathlib import Path

from rhapsode_worker.voicing.store import StoredVoice, VoiceStore

TYPES = ("wav", "flac")


def open_store(folder: Path) -> VoiceStore:
    return VoiceStore(folder, TYPES, "1.0", None)


def make(
    store: VoiceStore,
    voice_id: str,
    contents: bytes = b"sound",
    *,
    file_type: str = "wav",
    label: str = "Somebody",
    transcript: str | None = None,
) -> StoredVoice:
    """Creates a voice as an adapter does."""
    with store.staging.stage(file_type) as staged:
        staged.write(contents)
        return store.create(voice_id, staged, label=label, transcript=transcript)


def files_in(folder: Path) -> list[str]:
    """Every file below a folder, but for the store's lock."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return sorted(name for name in found if name != ".store/lock")


def seen(store: VoiceStore) -> list[tuple[str, str, str, str | None, bytes]]:
    """Each voice as a caller meets it: id, file, label, transcript and contents."""
    return [
        (voice.id, voice.path.name, voice.label, voice.transcript, voice.path.read_bytes())
        for voice in store.voices()
    ]
