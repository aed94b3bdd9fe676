"""Created voices on disk."""

import fcntl
import os
import threading
from pathlib import Path

import pytest
from rhapsode_contract import BadRequest, Internal, UnknownVoice
from rhapsode_worker.voicing.spec import mint_spec
from rhapsode_worker.voicing.store import VoiceStore

from .store_room import files_in, make, open_store, seen


@pytest.fixture
def store(folder: Path) -> VoiceStore:
    return open_store(folder)


def test_a_folder_that_is_not_there_has_no_voices_and_is_not_made(
    store: VoiceStore, folder: Path
) -> None:
    assert store.voices() == []
    with pytest.raises(UnknownVoice):
        store.get("narrator")
    assert not folder.exists()


@pytest.mark.contract("7.create.kept")
def test_a_created_voice_is_listed_and_survives_a_restart(store: VoiceStore, folder: Path) -> None:
    with store.staging.stage("wav") as staged:
        staged.write(b"sound")
        made = store.create(
            "narrator_03",
            staged,
            label="Narrator 03",
            description="Deep",
            tags=("cloned", "en"),
            transcript="What the clip says.",
            created_from="a clip",
        )
    assert made.path.read_bytes() == b"sound"
    for opened in (store, open_store(folder)):
        assert opened.voices() == [opened.get("narrator_03")] == [made]
        (listed,) = opened.listed("turbo")
        assert listed.to_object() == {
            "id": "narrator_03",
            "label": "Narrator 03",
            "description": "Deep",
            "tags": ["cloned", "en"],
            "spec": listed.spec,
        }
        assert opened.get("narrator_03").transcript == "What the clip says."
    assert made.record is not None
    assert made.record.created_from == "a clip"


def test_references_lie_flat_and_what_else_is_kept_is_no_reference(
    store: VoiceStore, folder: Path
) -> None:
    make(store, "narrator")
    make(store, "host", file_type="flac")
    assert sorted(path.stem for path in folder.glob("*.wav")) == ["narrator"]
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == [
        "host.flac",
        "narrator.wav",
    ]


def test_an_operators_file_is_a_voice_too(store: VoiceStore, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "narrator.wav").write_bytes(b"theirs")
    (folder / "SHOUT.WAV").write_bytes(b"THEIRS")
    assert seen(store) == [
        ("SHOUT", "SHOUT.WAV", "SHOUT", None, b"THEIRS"),
        ("narrator", "narrator.wav", "narrator", None, b"theirs"),
    ]
    assert store.listed()[1].description == "Cloned from narrator.wav"
    assert files_in(folder) == ["SHOUT.WAV", "narrator.wav"]


def test_what_is_named_otherwise_is_no_voice(store: VoiceStore, folder: Path) -> None:
    make(store, "narrator")
    for name in ("notes.txt", "narrator", ".hidden.wav", "two words.wav", "a.b.wav", "é.wav"):
        (folder / name).write_bytes(b"x")
    (folder / "folder.wav").mkdir()
    assert [voice.id for voice in store.voices()] == ["narrator"]


def test_a_create_replaces_and_the_spec_changes_whatever_else_does(
    store: VoiceStore, folder: Path
) -> None:
    first = make(store, "narrator", b"old", label="Old")
    second = make(store, "narrator", b"new", label="New")
    again = make(store, "narrator", b"new", label="New")
    assert seen(store) == [("narrator", "narrator.wav", "New", None, b"new")]
    assert len({voice.spec() for voice in (first, second, again)}) == 3
    assert len(files_in(folder)) == 2


def test_a_new_label_leaves_the_reference_where_it_is(store: VoiceStore) -> None:
    before = make(store, "narrator", label="Old").path.stat().st_ino
    assert make(store, "narrator", label="New").path.stat().st_ino == before
    assert store.get("narrator").label == "New"


def test_a_name_that_something_else_has_is_a_clear_error_and_leaves_nothing(
    store: VoiceStore, folder: Path
) -> None:
    (folder / "narrator.wav").mkdir(parents=True)
    with pytest.raises(Internal):
        make(store, "narrator")
    assert files_in(folder) == []


def test_a_replacement_of_another_type_leaves_nothing_of_the_old_one(
    store: VoiceStore, folder: Path
) -> None:
    for file_type in ("wav", "flac", "wav"):
        make(store, "narrator", file_type.encode(), file_type=file_type)
        assert seen(store) == [
            ("narrator", f"narrator.{file_type}", "Somebody", None, file_type.encode())
        ]
        assert len(files_in(folder)) == 2
    # What was superseded once is not removed again when an operator brings it back.
    (folder / "narrator.flac").write_bytes(b"flac")
    open_store(folder).sweep()
    assert (folder / "narrator.flac").exists()


def test_a_record_never_describes_a_file_that_an_operator_puts_in_its_place(
    store: VoiceStore, folder: Path
) -> None:
    make(store, "narrator", b"ours", transcript="Our words.")
    spec = store.get("narrator").spec()
    (folder / "narrator.wav").write_bytes(b"hers")
    assert seen(store) == [("narrator", "narrator.wav", "narrator", None, b"hers")]
    assert store.get("narrator").spec() != spec
    open_store(folder).sweep()
    assert files_in(folder) == ["narrator.wav"]


def test_a_delete_leaves_nothing(store: VoiceStore, folder: Path) -> None:
    make(store, "narrator")
    make(store, "host")
    (folder / "narrator.flac").write_bytes(b"theirs")
    store.delete("narrator")
    assert [voice.id for voice in store.voices()] == ["host"]
    assert len(files_in(folder)) == 2
    with pytest.raises(UnknownVoice) as refusal:
        store.delete("narrator")
    assert refusal.value.field == "id"


def test_one_voice_whose_id_begins_anothers_is_left_alone(store: VoiceStore, folder: Path) -> None:
    for voice_id in ("a", "a-b", "a_b", "A"):
        make(store, voice_id, voice_id.encode(), file_type="flac")
    make(store, "a", b"again")
    store.delete("a")
    assert [voice.id for voice in store.voices()] == ["A", "a-b", "a_b"]
    assert len(files_in(folder)) == 6


@pytest.mark.parametrize(
    "voice_id", ["../../etc/passwd", "..%2f", "C:\\x", "a/b", "a\0", "", "a" * 300]
)
def test_an_id_never_leaves_the_folder(store: VoiceStore, folder: Path, voice_id: str) -> None:
    with store.staging.stage("wav") as staged:
        staged.write(b"sound")
        with pytest.raises(BadRequest) as refusal:
            store.create(voice_id, staged, label="Nobody")
    assert refusal.value.field == "id"
    for ask in (store.get, store.delete):
        with pytest.raises(UnknownVoice):
            ask(voice_id)
    assert files_in(folder.parent) == ["voices/.store/lock"]


def test_a_type_that_the_store_does_not_keep_is_a_mistake_of_the_adapters(
    store: VoiceStore,
) -> None:
    with store.staging.stage("mp3") as staged, pytest.raises(ValueError, match="mp3"):
        store.create("narrator", staged, label="Nobody")


def test_a_staged_file_is_no_voice_and_goes_when_it_is_closed(
    store: VoiceStore, folder: Path
) -> None:
    with store.staging.stage("wav") as staged:
        staged.write(b"sound")
        assert store.voices() == []
    assert files_in(folder) == []


def test_a_file_of_this_machine_is_copied(store: VoiceStore, tmp_path: Path) -> None:
    clip = tmp_path / "clip.wav"
    clip.write_bytes(b"sound" * 100_000)
    with store.staging.stage_copy(clip, "wav") as staged:
        made = store.create("narrator", staged, label="Narrator")
    assert made.path.read_bytes() == clip.read_bytes()


# Links that somebody planted.


def test_a_link_in_the_folder_is_no_voice_and_is_never_written_through(
    store: VoiceStore, folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.wav"
    secret.write_bytes(b"secret")
    folder.mkdir(parents=True)
    (folder / "narrator.wav").symlink_to(secret)
    assert store.voices() == []
    with pytest.raises(UnknownVoice):
        store.delete("narrator")
    make(store, "narrator", b"ours")
    assert seen(store) == [("narrator", "narrator.wav", "Somebody", None, b"ours")]
    assert secret.read_bytes() == b"secret"


@pytest.mark.parametrize("planted", [".store", ".store/incoming", ".store/records"])
def test_a_link_in_place_of_the_stores_own_folders_is_an_error_and_goes_nowhere(
    store: VoiceStore, folder: Path, tmp_path: Path, planted: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / planted).parent.mkdir(parents=True)
    (folder / planted).symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises((Internal, OSError)):
        make(store, "narrator")
    assert files_in(elsewhere) == []


def test_a_pipe_or_a_link_in_place_of_a_record_is_not_followed(
    store: VoiceStore, folder: Path
) -> None:
    for voice_id in ("a", "b"):
        make(store, voice_id)
    pipe, link = sorted((folder / ".store" / "records").iterdir())
    pipe.unlink()
    os.mkfifo(pipe)
    link.rename(folder.parent / "outside.json")
    link.symlink_to(folder.parent / "outside.json")
    assert [(voice.id, voice.record) for voice in store.voices()] == [("a", None), ("b", None)]


@pytest.mark.parametrize("contents", [b"", b"{", b"[]", b'{"label": 3}', b"\xff", b"{" * 100_000])
def test_a_damaged_record_is_as_good_as_none(
    store: VoiceStore, folder: Path, contents: bytes
) -> None:
    make(store, "narrator", b"sound")
    (record,) = (folder / ".store" / "records").iterdir()
    record.write_bytes(contents)
    assert seen(store) == [("narrator", "narrator.wav", "narrator", None, b"sound")]
    make(store, "narrator", b"sound", label="Whole again")
    assert store.get("narrator").label == "Whole again"


def test_a_planted_record_removes_no_file_but_its_own_voices(
    store: VoiceStore, folder: Path
) -> None:
    make(store, "narrator", b"sound")
    make(store, "host", b"host")
    (record,) = (folder / ".store" / "records").glob("narrator*")
    (folder.parent / "kept.wav").touch()
    record.write_bytes(
        b'{"label": "x", "token": "x", "supersedes":'
        b' ["../kept.wav", "host.wav", "/etc/hostname", "", "narrator.wav"]}'
    )
    open_store(folder).sweep()
    assert (folder.parent / "kept.wav").exists()
    assert [voice.id for voice in store.voices()] == ["host", "narrator"]


# Several at once.


def test_two_creates_of_one_id_at_once_leave_one_of_them_whole(folder: Path) -> None:
    def create(number: int) -> None:
        contents = b"%d" % number * 1000
        make(
            open_store(folder),
            "narrator",
            contents,
            file_type=("wav", "flac")[number % 2],
            label=f"Label {number}",
            transcript=f"Words {number}",
        )

    open_store(folder).sweep()
    threads = [threading.Thread(target=create, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    reader = open_store(folder)
    while any(thread.is_alive() for thread in threads):
        for _, _, label, transcript, contents in seen_while_it_changes(reader):
            number = int(label.removeprefix("Label "))
            assert (transcript, contents) == (f"Words {number}", b"%d" % number * 1000)
    for thread in threads:
        thread.join()
    assert len(seen(reader)) == 1
    assert len(files_in(folder)) == 2


def seen_while_it_changes(store: VoiceStore) -> list[tuple[str, str, str, str | None, bytes]]:
    try:
        voices = seen(store)
        # Read after the list was made, and so perhaps of a later voice.
        return voices if voices == seen(store) else []
    except FileNotFoundError:
        return []


def test_nothing_is_listed_while_a_change_is_half_done(store: VoiceStore, folder: Path) -> None:
    make(store, "narrator", label="Whole")
    (record,) = (folder / ".store" / "records").iterdir()
    labels: list[str] = []
    reader = threading.Thread(target=lambda: labels.append(store.get("narrator").label))
    with (folder / ".store" / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        contents = record.read_bytes()
        record.unlink()
        reader.start()
        reader.join(timeout=0.2)  # a reader that did not wait would be done
        assert labels == []
        record.write_bytes(contents)
    reader.join()
    assert labels == ["Whole"]


def test_a_sweep_leaves_alone_what_another_process_is_uploading(
    store: VoiceStore, folder: Path
) -> None:
    with store.staging.stage("wav") as staged:
        staged.write(b"sound")
        open_store(folder).sweep()
        store.create("narrator", staged, label="Narrator")
    assert [voice.id for voice in store.voices()] == ["narrator"]


def test_a_sweep_removes_what_nobody_holds(store: VoiceStore, folder: Path) -> None:
    incoming = folder / ".store" / "incoming"
    incoming.mkdir(parents=True)
    (incoming / "0123456789abcdef.wav").write_bytes(b"half a clip")
    store.sweep()
    assert files_in(folder) == []


# Specs.


def test_a_spec_changes_with_all_that_the_rendering_depends_on(folder: Path) -> None:
    folder.mkdir(parents=True)
    file = folder / "narrator.wav"

    def spec(contents: bytes, salt: str | None, *versions: str | None) -> str:
        file.write_bytes(contents)
        return VoiceStore(folder, ["wav"], *versions).listed(salt)[0].spec

    specs = [
        spec(b"one", "turbo", "1.0", "2.0"),
        spec(b"two", "turbo", "1.0", "2.0"),
        spec(b"one", "small", "1.0", "2.0"),
        spec(b"one", None, "1.0", "2.0"),
        spec(b"one", "turbo", "1.1", "2.0"),
        spec(b"one", "turbo", "1.0", "2.1"),
        spec(b"one", "turbo", "1.0", None),
    ]
    assert len(set(specs)) == len(specs)
    assert spec(b"one", "turbo", "1.0", "2.0") == specs[0]


def test_a_changed_transcript_changes_the_spec(store: VoiceStore) -> None:
    first = make(store, "narrator", transcript="One.")
    assert make(store, "narrator", transcript="Two.").spec() != first.spec()


def test_a_file_that_changes_within_one_tick_of_the_clock_has_another_spec(
    store: VoiceStore, folder: Path
) -> None:
    folder.mkdir(parents=True)
    file = folder / "narrator.wav"
    specs: set[str] = set()
    for number in range(50):
        file.write_bytes(b"%02d" % number)
        specs.add(store.get("narrator").spec())
    assert len(specs) == 50


def test_the_parts_of_a_spec_are_told_apart() -> None:
    parts = [(), ("",), (None,), ("a", "b"), ("ab",), ("ab", ""), ("", "ab"), ("ab", None)]
    assert len({mint_spec("x", *some) for some in parts}) == len(parts)
    assert mint_spec("x", "a") == mint_spec("x", b"a") != mint_spec("y", "a")
