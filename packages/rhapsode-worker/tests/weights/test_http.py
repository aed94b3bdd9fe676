"""Servers that break off, lie, hang, redirect and refuse."""

from pathlib import Path

import pytest
from rhapsode_contract import Internal, ModelUnavailable
from rhapsode_worker.weights import Patience, ReleaseFile

from .site import (
    Answer,
    Site,
    drip,
    drop_after,
    ignore_ranges,
    redirect_to,
    refuse,
    say_nothing,
    serving,
    without_validators,
)
from .stock import QUICK, declared, left_in, noise, served, weights_of

CONTENT = noise(300_000)
PART = "model.bin.part"


def leave_a_part(site: Site, folder: Path, count: int) -> None:
    """Leaves the first `count` bytes, as a fetch that was interrupted does."""
    site.plan("/model", drop_after(count), refuse(503))
    with pytest.raises(ModelUnavailable):
        served(site, folder, CONTENT).fetch()
    assert (folder / PART).stat().st_size == count
    site.seen.clear()


def test_a_dropped_connection_is_resumed_at_once(site: Site, tmp_path: Path) -> None:
    site.plan("/model", drop_after(100_000), drop_after(50_000))
    served(site, tmp_path, CONTENT).fetch()
    assert site.offsets() == [0, 100_000, 150_000]
    assert (tmp_path / "model.bin").read_bytes() == CONTENT


def test_the_next_fetch_resumes_where_the_last_one_ended(site: Site, tmp_path: Path) -> None:
    leave_a_part(site, tmp_path, 123_456)
    served(site, tmp_path, CONTENT).fetch()
    assert site.offsets() == [123_456]
    assert "If-Range" in site.seen[0].headers
    assert (tmp_path / "model.bin").read_bytes() == CONTENT


def test_a_server_that_ignores_the_range_is_taken_from_the_beginning(
    site: Site, tmp_path: Path
) -> None:
    leave_a_part(site, tmp_path, 123_456)
    site.plan("/model", ignore_ranges)
    served(site, tmp_path, CONTENT).fetch()
    assert site.offsets() == [123_456]
    assert (tmp_path / "model.bin").read_bytes() == CONTENT


def test_a_file_that_changed_on_the_server_is_taken_from_the_beginning(
    site: Site, tmp_path: Path
) -> None:
    site.files["/model"] = noise(300_000, seed=7)
    site.plan("/model", drop_after(100_000), refuse(503))
    file = declared("model.bin", CONTENT, ReleaseFile(site.url("/model")))
    weights = weights_of(tmp_path, file)
    with pytest.raises(ModelUnavailable):
        weights.fetch()
    site.files["/model"] = CONTENT
    site.seen.clear()
    weights.fetch()
    assert site.offsets() == [100_000]


def test_a_splice_that_no_validator_prevents_is_fetched_once_more_whole(
    site: Site, tmp_path: Path
) -> None:
    site.files["/model"] = noise(300_000, seed=7)

    def half(answer: Answer) -> None:
        answer.head(200)
        answer.body(answer.content[:100_000])

    site.plan("/model", half, refuse(503), without_validators)
    file = declared("model.bin", CONTENT, ReleaseFile(site.url("/model")))
    weights = weights_of(tmp_path, file)
    with pytest.raises(ModelUnavailable):
        weights.fetch()
    site.files["/model"] = CONTENT
    site.seen.clear()
    weights.fetch()
    assert site.offsets() == [100_000, 0]
    assert "If-Range" not in site.seen[0].headers


def test_another_source_goes_on_where_the_first_broke_off(site: Site, tmp_path: Path) -> None:
    site.files.update({"/one": CONTENT, "/two": CONTENT})
    site.plan("/one", drop_after(100_000), refuse(404))
    sources = [ReleaseFile(site.url("/one")), ReleaseFile(site.url("/two"))]
    weights_of(tmp_path, declared("a", CONTENT, *sources)).fetch()
    assert [(seen.path, seen.offset) for seen in site.seen] == [
        ("/one", 0),
        ("/one", 100_000),
        ("/two", 100_000),
    ]
    assert "If-Range" not in site.seen[2].headers  # that is the other server's


def test_a_part_of_another_release_is_not_built_upon(site: Site, tmp_path: Path) -> None:
    leave_a_part(site, tmp_path, 100_000)
    served(site, tmp_path, noise(400_000, seed=3)).fetch()
    assert site.offsets() == [0]


def test_a_part_whose_note_is_torn_is_not_built_upon(site: Site, tmp_path: Path) -> None:
    leave_a_part(site, tmp_path, 100_000)
    (tmp_path / f"{PART}.from").write_text('{"sha', encoding="utf-8")
    served(site, tmp_path, CONTENT).fetch()
    assert site.offsets() == [0]


def test_a_part_that_is_too_long_is_not_built_upon(site: Site, tmp_path: Path) -> None:
    leave_a_part(site, tmp_path, 100_000)
    (tmp_path / PART).write_bytes(CONTENT + b"more")
    served(site, tmp_path, CONTENT).fetch()
    assert site.offsets() == [0]


def test_a_part_that_is_whole_is_checked_without_a_request(site: Site, tmp_path: Path) -> None:
    leave_a_part(site, tmp_path, 100_000)
    (tmp_path / PART).write_bytes(CONTENT)
    served(site, tmp_path, CONTENT).fetch()
    assert site.seen == []


def test_a_part_with_a_flipped_bit_is_fetched_once_more_whole(site: Site, tmp_path: Path) -> None:
    leave_a_part(site, tmp_path, 100_000)
    (tmp_path / PART).write_bytes(bytes(100_000))
    served(site, tmp_path, CONTENT).fetch()
    assert site.offsets() == [100_000, 0]


def test_a_range_that_cannot_be_had_is_asked_for_from_the_beginning(
    site: Site, tmp_path: Path
) -> None:
    leave_a_part(site, tmp_path, 100_000)
    site.plan("/model", refuse(416))
    served(site, tmp_path, CONTENT, QUICK).fetch()
    assert site.offsets() == [100_000, 0]


def test_another_range_than_the_one_asked_for_is_not_taken(site: Site, tmp_path: Path) -> None:
    leave_a_part(site, tmp_path, 100_000)

    def shift(answer: Answer) -> None:
        answer.head(206, Content_Range="bytes 5-299999/300000", Content_Length=299_995)
        answer.body(answer.content[5:])

    site.plan("/model", shift)
    served(site, tmp_path, CONTENT, QUICK).fetch()
    assert site.offsets() == [100_000, 0]


@pytest.mark.parametrize("size", [299_999, 300_001])
def test_a_file_of_another_length_is_refused_by_its_head(
    site: Site, tmp_path: Path, size: int
) -> None:
    weights = served(site, tmp_path, CONTENT)
    site.files["/model"] = noise(size)
    with pytest.raises(Internal, match=f"has {size} bytes"):
        weights.fetch()
    assert left_in(tmp_path) == set()


def test_a_server_that_does_not_say_how_long_the_file_is_is_believed_by_the_hash(
    site: Site, tmp_path: Path
) -> None:
    site.always("/model", without_validators)
    served(site, tmp_path, CONTENT).fetch()
    assert (tmp_path / "model.bin").read_bytes() == CONTENT


def test_a_server_that_sends_without_end_is_cut_off(site: Site, tmp_path: Path) -> None:
    weights = served(site, tmp_path, CONTENT)
    site.files["/model"] = CONTENT + noise(4_000_000)
    site.always("/model", without_validators)
    with pytest.raises(Internal, match="more than 300000"):
        weights.fetch()


def test_a_server_that_is_busy_is_asked_again_and_one_that_refuses_is_not(
    site: Site, tmp_path: Path
) -> None:
    site.files["/busy"] = CONTENT
    site.plan("/busy", refuse(503), refuse(429))
    sources = [ReleaseFile(site.url("/gone")), ReleaseFile(site.url("/busy"))]
    weights_of(tmp_path, declared("a", CONTENT, *sources), patience=QUICK).fetch()
    assert [seen.path for seen in site.seen] == ["/gone", "/busy", "/busy", "/busy"]


@pytest.mark.parametrize("status", [401, 403, 404, 410, 451])
def test_a_refusal_that_will_not_change_is_not_asked_again(
    site: Site, tmp_path: Path, status: int
) -> None:
    site.always("/model", refuse(status))
    with pytest.raises(ModelUnavailable, match=str(status)):
        served(site, tmp_path, CONTENT, QUICK).fetch()
    assert len(site.seen) == 1


def test_a_server_that_always_breaks_off_comes_to_an_end(site: Site, tmp_path: Path) -> None:
    site.always("/model", drop_after(1000))
    with pytest.raises(ModelUnavailable, match="broke off"):
        served(site, tmp_path, CONTENT).fetch()
    assert len(site.seen) == 32


def test_a_server_that_falls_silent_is_left_for_the_next(site: Site, tmp_path: Path) -> None:
    site.files.update({"/one": CONTENT, "/two": CONTENT})
    site.plan("/one", drop_after(100_000), say_nothing)
    sources = [ReleaseFile(site.url("/one")), ReleaseFile(site.url("/two"))]
    patience = Patience(silence_seconds=1.0, pauses_seconds=())
    weights_of(tmp_path, declared("a", CONTENT, *sources), patience=patience).fetch()
    assert [(seen.path, seen.offset) for seen in site.seen] == [
        ("/one", 0),
        ("/one", 100_000),
        ("/two", 100_000),
    ]


def test_silence_is_named_as_the_reason(site: Site, tmp_path: Path) -> None:
    site.always("/model", say_nothing)
    patience = Patience(silence_seconds=0.1, pauses_seconds=())
    with pytest.raises(ModelUnavailable, match="timed out"):
        served(site, tmp_path, CONTENT, patience).fetch()


def test_a_server_that_crawls_is_left_for_the_next(site: Site, tmp_path: Path) -> None:
    site.files.update({"/one": CONTENT, "/two": CONTENT})
    site.always("/one", drip)
    sources = [ReleaseFile(site.url("/one")), ReleaseFile(site.url("/two"))]
    patience = Patience(crawl_window_seconds=0.2, pauses_seconds=())
    weights_of(tmp_path, declared("a", CONTENT, *sources), patience=patience).fetch()
    assert [seen.path for seen in site.seen] == ["/one", "/two"]
    assert 0 < site.seen[1].offset < 1000


def test_no_server_at_all_is_unavailable(tmp_path: Path) -> None:
    with serving() as gone:
        url = gone.url("/model")
    with pytest.raises(ModelUnavailable, match="refused"):
        weights_of(tmp_path, declared("a", CONTENT, ReleaseFile(url))).fetch()


def test_something_that_is_not_http_is_unavailable(site: Site, tmp_path: Path) -> None:
    site.always("/model", lambda answer: answer.body(b"\x00\x01 no such protocol\r\n\r\n"))
    with pytest.raises(ModelUnavailable):
        served(site, tmp_path, CONTENT).fetch()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_with_the_range(site: Site, tmp_path: Path, status: int) -> None:
    site.files["/store"] = CONTENT
    site.plan("/store", drop_after(100_000))
    site.always("/model", redirect_to(site.url("/store?signed=1"), status))
    site.always("/store?signed=1", redirect_to("/store"))
    served(site, tmp_path, CONTENT).fetch()
    assert [(seen.path, seen.offset) for seen in site.seen] == [
        ("/model", 0),
        ("/store?signed=1", 0),
        ("/store", 0),
        ("/model", 100_000),
        ("/store?signed=1", 100_000),
        ("/store", 100_000),
    ]


@pytest.mark.parametrize(
    "target", ["/model", "file:///etc/passwd", "ftp://127.0.0.1/a", "http://["]
)
def test_redirects_that_lead_nowhere_end(site: Site, tmp_path: Path, target: str) -> None:
    site.always("/model", redirect_to(target))
    with pytest.raises(ModelUnavailable):
        served(site, tmp_path, CONTENT).fetch()
    assert left_in(tmp_path) == set()
