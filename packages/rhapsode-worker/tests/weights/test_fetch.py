"""Files come, are checked, are known to be right, and are fetched again when they are not."""

import json
import os
import threading
from pathlib import Path

import pytest
from rhapsode_contract import Internal, ModelUnavailable
from rhapsode_worker.weights import BuiltFile, ReleaseFile
from rhapsode_worker.weights.lock import folder_lock

from .site import Site, refuse
from .stock import QUICK, declared, left_in, noise, served, weights_of

CONTENT = noise(300_000)


def test_a_file_arrives_whole_in_its_own_folder(site: Site, tmp_path: Path) -> None:
    site.files["/a"] = CONTENT
    file = declared("voices/en/a.bin", CONTENT, ReleaseFile(site.url("/a")))
    weights = weights_of(tmp_path / "engine", file)
    assert not weights.is_complete()
    assert weights.verify() == ["voices/en/a.bin"]
    told: list[tuple[int, int]] = []
    weights.fetch(lambda received, total: told.append((received, total)))
    assert weights.path_of("voices/en/a.bin").read_bytes() == CONTENT
    assert weights.is_complete()
    assert weights.verify() == []
    assert told[-1] == (300_000, 300_000)
    assert left_in(weights.folder) == {"voices/en/a.bin"}
    with pytest.raises(KeyError):
        weights.path_of("voices/en/b.bin")


def test_what_is_in_place_is_not_fetched_again(site: Site, tmp_path: Path) -> None:
    weights = served(site, tmp_path, CONTENT)
    weights.fetch()
    weights.fetch()
    assert len(site.seen) == 1


def test_files_laid_there_by_hand_are_checked_and_taken(site: Site, tmp_path: Path) -> None:
    weights = served(site, tmp_path, CONTENT)
    (tmp_path / "model.bin").write_bytes(CONTENT)
    assert not weights.is_complete()
    weights.fetch()
    assert weights.is_complete()
    assert site.seen == []


def test_a_flipped_bit_is_found_and_mended(site: Site, tmp_path: Path) -> None:
    weights = served(site, tmp_path, CONTENT)
    weights.fetch()
    flipped = bytearray(CONTENT)
    flipped[1234] ^= 1
    (tmp_path / "model.bin").write_bytes(flipped)
    assert weights.verify() == ["model.bin"]
    weights.fetch()
    assert (tmp_path / "model.bin").read_bytes() == CONTENT
    assert weights.is_complete()


def test_a_file_found_wrong_and_not_to_be_had_is_no_longer_complete(
    site: Site, tmp_path: Path
) -> None:
    weights = served(site, tmp_path, CONTENT)
    weights.fetch()
    (tmp_path / "model.bin").write_bytes(bytes(len(CONTENT)))
    site.always("/model", refuse(404))
    with pytest.raises(ModelUnavailable):
        weights.fetch()
    assert not weights.is_complete()


def test_a_new_release_of_a_file_replaces_the_old_one(site: Site, tmp_path: Path) -> None:
    served(site, tmp_path, CONTENT).fetch()
    newer = served(site, tmp_path, noise(300_000, seed=2))
    assert not newer.is_complete()
    newer.fetch()
    assert newer.verify() == []


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"model.bin": 3}', b'{"model.bin": {}}'])
def test_a_stamp_that_makes_no_sense_costs_a_check(
    site: Site, tmp_path: Path, content: bytes
) -> None:
    weights = served(site, tmp_path, CONTENT)
    weights.fetch()
    (tmp_path / ".verified.json").write_bytes(content)
    assert not weights.is_complete()
    weights.fetch()
    assert weights.is_complete()
    assert len(site.seen) == 1


def test_a_missing_file_is_missed_whatever_the_stamp_says(site: Site, tmp_path: Path) -> None:
    weights = served(site, tmp_path, CONTENT)
    weights.fetch()
    (tmp_path / "model.bin").unlink()
    assert not weights.is_complete()


def test_two_variants_share_a_folder(site: Site, tmp_path: Path) -> None:
    site.files.update({"/a": b"aa", "/b": b"bbb"})
    one = weights_of(tmp_path, declared("a", b"aa", ReleaseFile(site.url("/a"))))
    two = weights_of(tmp_path, declared("b", b"bbb", ReleaseFile(site.url("/b"))))
    one.fetch()
    two.fetch()
    assert one.is_complete()
    assert two.is_complete()


def test_the_next_source_is_tried_when_one_has_another_file(site: Site, tmp_path: Path) -> None:
    site.files.update({"/wrong": noise(300_000, seed=9), "/short": b"x", "/right": CONTENT})
    urls = ("/wrong", "/short", "/missing", "/right")
    sources = [ReleaseFile(site.url(url)) for url in urls]
    weights = weights_of(tmp_path, declared("a", CONTENT, *sources))
    weights.fetch()
    assert [seen.path for seen in site.seen] == list(urls)
    assert left_in(tmp_path) == {"a"}


def test_a_hash_that_is_wrong_everywhere_is_internal_and_names_both(
    site: Site, tmp_path: Path
) -> None:
    site.files.update({"/one": noise(300_000, seed=9), "/two": b"x"})
    sources = [ReleaseFile(site.url("/one")), ReleaseFile(site.url("/two"))]
    file = declared("a.bin", CONTENT, *sources)
    other = declared("b", site.files["/one"], *sources)
    with pytest.raises(Internal) as caught:
        weights_of(tmp_path, file, patience=QUICK).fetch()
    for said in ("a.bin", file.sha256, other.sha256, "/one", "/two", "has 1 bytes"):
        assert said in caught.value.message
    assert left_in(tmp_path) == set()


def test_every_sources_reason_is_in_the_error(site: Site, tmp_path: Path) -> None:
    site.files["/wrong"] = noise(300_000, seed=9)
    site.plan("/busy", refuse(503))
    site.plan("/secret", refuse(403))
    sources = [ReleaseFile(site.url(path)) for path in ("/wrong", "/busy", "/secret", "/gone")]
    with pytest.raises(ModelUnavailable) as caught:
        weights_of(tmp_path, declared("a.bin", CONTENT, *sources)).fetch()
    for said in ("a.bin", "sha256", "503", "403", "404"):
        assert said in caught.value.message
    assert caught.value.retryable


def test_a_fetch_that_is_told_to_stop_stops_and_goes_on_the_next_time(
    site: Site, tmp_path: Path
) -> None:
    weights = served(site, tmp_path, CONTENT)
    told: list[int] = []
    part = tmp_path / "model.bin.part"
    with pytest.raises(ModelUnavailable, match="stopped"):
        weights.fetch(
            lambda received, _: told.append(received),
            lambda: part.exists() and part.stat().st_size > 0,
        )
    assert 0 < part.stat().st_size <= len(CONTENT)
    weights.fetch()
    assert weights.verify() == []


def test_a_file_is_built_from_others_and_checked(site: Site, tmp_path: Path) -> None:
    voices = {f"/voice{n}": noise(1000, seed=n) for n in range(3)}
    site.files.update(voices)
    whole = b"".join(voices.values())
    ingredients = [
        declared(f"v{n}", content, ReleaseFile(site.url(path)))
        for n, (path, content) in enumerate(voices.items())
    ]

    def join(paths: list[Path] | tuple[Path, ...], target: Path) -> None:
        target.write_bytes(b"".join(path.read_bytes() for path in paths))

    built = BuiltFile(ingredients, lambda paths, target: join(list(paths), target))
    weights = weights_of(tmp_path, declared("voices.bin", whole, built))
    weights.fetch()
    assert (tmp_path / "voices.bin").read_bytes() == whole
    assert left_in(tmp_path) == {"voices.bin"}
    wrong = BuiltFile(ingredients[:2], lambda paths, target: join(list(paths), target))
    with pytest.raises(Internal):
        weights_of(tmp_path / "other", declared("voices.bin", whole, wrong)).fetch()


def test_what_a_built_file_lacks_is_in_its_error(site: Site, tmp_path: Path) -> None:
    ingredient = declared("v", b"abc", ReleaseFile(site.url("/gone")))
    built = BuiltFile([ingredient], lambda paths, target: None)
    with pytest.raises(ModelUnavailable, match="built from 1 files: .*404"):
        weights_of(tmp_path, declared("voices.bin", CONTENT, built)).fetch()


def test_a_folder_that_cannot_be_made_is_named(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    weights = served(site, tmp_path / "file" / "weights", CONTENT)
    with pytest.raises(ModelUnavailable) as caught:
        weights.fetch()
    assert str(tmp_path / "file") in caught.value.message
    assert "\n" not in caught.value.message


def test_a_folder_that_cannot_be_locked_will_do_where_all_is_right(
    site: Site, tmp_path: Path
) -> None:
    weights = served(site, tmp_path, CONTENT)
    (tmp_path / ".lock").mkdir()  # stands for a file system that takes no writes
    with pytest.raises(ModelUnavailable, match="cannot be written"):
        weights.fetch()
    (tmp_path / "model.bin").write_bytes(CONTENT)
    weights.fetch()
    assert site.seen == []


def test_two_fetches_at_once_bring_each_file_once(site: Site, tmp_path: Path) -> None:
    first = served(site, tmp_path, CONTENT)
    second = served(site, tmp_path, CONTENT)
    threads = [threading.Thread(target=weights.fetch) for weights in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert first.verify() == []
    assert len(site.seen) == 1


def test_a_fetch_that_waits_for_another_shows_what_arrives_and_can_be_stopped(
    site: Site, tmp_path: Path
) -> None:
    part = tmp_path / "model.bin.part"
    waiter = served(site, tmp_path, CONTENT)
    told: list[int] = []

    def is_enough() -> bool:
        with part.open("ab") as out:
            out.write(b"more")
        return len(told) > 0

    # The lock and the part stand for a fetch in another process.
    with (
        folder_lock(tmp_path, while_waiting=lambda: None),
        pytest.raises(ModelUnavailable, match="stopped"),
    ):
        waiter.fetch(lambda received, _: told.append(received), is_enough)
    assert told[0] > 0
    assert site.seen == []
    waiter.fetch()
    assert waiter.verify() == []


def test_scratch_of_a_killed_fetch_is_removed_and_what_can_be_used_is_kept(
    site: Site, tmp_path: Path
) -> None:
    for name in ("scratch-abc", "pip-six-1.0"):
        (tmp_path / ".fetch" / name).mkdir(parents=True)
    weights = served(site, tmp_path, CONTENT)
    site.always("/model", refuse(404))
    with pytest.raises(ModelUnavailable):
        weights.fetch()
    assert [path.name for path in (tmp_path / ".fetch").iterdir()] == ["pip-six-1.0"]


def test_the_stamp_names_each_file_with_its_hash_and_its_time(site: Site, tmp_path: Path) -> None:
    weights = served(site, tmp_path, CONTENT)
    weights.fetch()
    stamp = json.loads((tmp_path / ".verified.json").read_bytes())
    modified_ns = (tmp_path / "model.bin").stat().st_mtime_ns
    assert stamp == {"model.bin": {"sha256": weights.files[0].sha256, "modified_ns": modified_ns}}


def test_a_file_written_since_it_was_checked_is_read_again(site: Site, tmp_path: Path) -> None:
    weights = served(site, tmp_path, CONTENT)
    weights.fetch()
    flip_a_bit(tmp_path / "model.bin")
    assert not weights.is_complete()
    weights.fetch()
    assert weights.verify() == []
    assert weights.is_complete()


def test_a_file_that_was_only_touched_is_not_fetched_again(site: Site, tmp_path: Path) -> None:
    weights = served(site, tmp_path, CONTENT)
    weights.fetch()
    os.utime(tmp_path / "model.bin", ns=(0, 0))
    assert not weights.is_complete()
    weights.fetch()
    assert weights.is_complete()
    assert len(site.seen) == 1


def test_a_time_that_lost_its_fraction_in_an_archive_still_counts(
    site: Site, tmp_path: Path
) -> None:
    weights = served(site, tmp_path, CONTENT)
    weights.fetch()
    path = tmp_path / "model.bin"
    second_ns = path.stat().st_mtime_ns // 1_000_000_000 * 1_000_000_000
    os.utime(path, ns=(second_ns, second_ns))
    assert weights.is_complete()
    os.utime(path, ns=(second_ns, second_ns - 1_000_000_000))
    assert not weights.is_complete()


def flip_a_bit(path: Path) -> None:
    """Changes a file where it lies, and nothing of its size."""
    with path.open("r+b") as file:
        file.seek(1234)
        (byte,) = file.read(1)
        file.seek(1234)
        file.write(bytes([byte ^ 1]))
