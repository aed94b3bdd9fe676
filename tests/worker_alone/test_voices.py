"""Voices that callers make, and what they may not reach: cases.md 38, 39 and 40."""

import io
import pickle
import zipfile
from pathlib import Path

import pytest
from rhapsode_conform.form import File

from .alone import Alone, alone
from .recordings import clip

pytestmark = pytest.mark.anyio

BAD_IDS = [
    "../../etc/passwd",
    "..%2f",
    "C:\\x",
    "a/b",
    "a\0b",
    "a" * 300,
    "..",
    "",
]
SAMPLE = 300


def outside(folder: Path) -> dict[str, bytes]:
    """Returns what lies around the voice folder, and whatever of it is a file."""
    return {
        str(path): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if not path.is_relative_to(folder / "voices") and path.suffix != ".sock"
    }


def inside(folder: Path) -> list[Path]:
    """Returns the files of the voice folder."""
    return [path for path in sorted((folder / "voices").rglob("*")) if path.is_file()]


@pytest.mark.contract("7.id.grammar")
async def test_case_38_an_id_that_is_none_touches_no_file(short_path: Path) -> None:
    (short_path / "passwd.wav").write_bytes(clip(SAMPLE).content)
    async with alone(short_path) as worker:
        assert (await worker.make_voice(id="kept", label="K", reference=clip(SAMPLE))).status == 201
        around, within = outside(short_path), inside(short_path)
        for bad in BAD_IDS:
            made = await worker.make_voice(id=bad, label="Bad", reference=clip(SAMPLE))
            assert (made.status, made.code) == (400, "bad_request"), bad
            spoken = await worker.speak(voice=bad)
            assert (spoken.status, spoken.code) in {(400, "bad_request"), (404, "unknown_voice")}
        for target in ("..%2f..%2fetc%2fpasswd", "..%2f", "C:%5Cx", "a%2fb", "a%00b", "a" * 300):
            for method in ("DELETE", "GET"):
                path = f"/voices/{target}" + ("/preview" if method == "GET" else "")
                answer = await worker.wire.send(method, path)
                assert (answer.status, answer.code) == (400, "bad_request"), (method, target)
        assert outside(short_path) == around
        assert inside(short_path) == within


async def test_case_38_neither_does_a_file_name(short_path: Path) -> None:
    async with alone(short_path) as worker:
        around = outside(short_path)
        for bad in BAD_IDS:
            made = await worker.make_voice(id="sam", label="Sam", reference=clip(SAMPLE, bad))
            assert (made.status, made.code) == (400, "bad_request"), bad
        assert inside(short_path) == []
        # One that ends in a type may be taken for its type, and for nothing else.
        for bad in BAD_IDS:
            named = clip(SAMPLE, f"{bad}.wav")
            made = await worker.make_voice(id="sam", label="Sam", reference=named)
            assert made.status == 201 or made.code == "bad_request", bad
        assert {path.name for path in (short_path / "voices").iterdir()} <= {"sam.wav", ".store"}
        assert outside(short_path) == around


class Command:
    """What a pickle can be: a file that says what to run when it is read."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self._mark,))


def archive_of(pickled: bytes) -> bytes:
    """Returns the archive that torch keeps a pickle in."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("voice/data.pkl", pickled)
        files.writestr("voice/data/0", bytes(4))
        files.writestr("voice/version", b"3\n")
    return archive.getvalue()


@pytest.mark.contract("7.create.never-unpickled", "7.create.reference")
async def test_case_39_a_pickle_is_refused_and_never_run(short_path: Path) -> None:
    mark = short_path / "it-was-run"
    poison = pickle.dumps(Command(mark))
    async with alone(short_path, adapter="packs") as worker:
        for name in ("voice.pt", "voice.npy"):
            for content in (poison, archive_of(poison)):
                made = await worker.make_voice(id="sam", label="Sam", reference=File(name, content))
                assert (made.status, made.code) == (400, "bad_request"), name
        other = await worker.make_voice(id="sam", label="Sam", reference=File("voice.pkl", poison))
        assert (other.status, other.code) == (422, "unsupported")
        assert await worker.voices() == set()
    assert not mark.exists()
    pickle.loads(poison)
    assert mark.exists()  # what was sent would have done it


@pytest.mark.contract("d.codes.unknown-field")
async def test_case_39_no_field_names_a_file_or_a_module(short_path: Path) -> None:
    recording = short_path / "clip.wav"
    recording.write_bytes(clip(SAMPLE).content)
    async with alone(short_path) as worker:
        for field in ("voicePath", "audioPromptPath", "reference", "module", "model", "path"):
            answer = await worker.speak(**{field: str(recording)})
            assert (answer.status, answer.code) == (400, "bad_request"), field
        made = await worker.make_voice(id="sam", label="Sam", reference=str(recording))
        assert (made.status, made.code) == (400, "bad_request")
        assert (await worker.speak(voice=str(recording))).status in {400, 404}


async def test_case_40_a_made_voice_is_spoken_at_once_outlives_a_restart_and_can_go(
    short_path: Path,
) -> None:
    async with alone(short_path) as worker:
        assert (await worker.speak(voice="sam")).code == "unknown_voice"
        made = await worker.make_voice(id="sam", label="Sam", reference=clip(SAMPLE))
        assert made.status == 201
        first = await said_by_sam(worker)
    async with alone(short_path) as worker:
        assert await said_by_sam(worker) == first
        assert (await worker.wire.send("DELETE", "/voices/sam")).status == 204
        assert (await worker.speak(voice="sam")).code == "unknown_voice"
        assert "sam" not in await worker.voices()
    async with alone(short_path) as worker:
        assert "sam" not in await worker.voices()


async def said_by_sam(worker: Alone) -> bytes:
    spoken = await worker.speak(voice="sam", seed=40)
    assert spoken.status == 200
    assert spoken.body != (await worker.speak(seed=40)).body
    return spoken.body
