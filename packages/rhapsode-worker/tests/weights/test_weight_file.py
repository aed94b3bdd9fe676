"""Declarations that make no sense are refused where they are written."""

import hashlib
from pathlib import Path

import pytest
from rhapsode_worker.weights import (
    HubFile,
    IndexFile,
    NpmFile,
    ReleaseFile,
    WeightFile,
    Weights,
)

SOURCES = [ReleaseFile("https://example.org/model.bin")]
SHA256 = hashlib.sha256(b"x").hexdigest()


@pytest.mark.parametrize(
    "name",
    ["", "/etc/passwd", "../up", "a/../b", "a//b", "./a", ".lock", "a/.fetch", "a\\b", "a.part"]
    + ["voices/", "a.part.from"],
)
def test_a_name_that_is_no_plain_path_below_the_folder_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a file"):
        WeightFile(name, SHA256, 1, SOURCES)


@pytest.mark.parametrize("sha256", ["", SHA256.upper(), SHA256[1:], SHA256 + "\n", "g" * 64])
def test_a_hash_that_is_none_is_refused(sha256: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        WeightFile("a", sha256, 1, SOURCES)


def test_a_file_has_bytes_and_sources() -> None:
    with pytest.raises(ValueError, match="size"):
        WeightFile("a", SHA256, 0, SOURCES)
    with pytest.raises(ValueError, match="no source"):
        WeightFile("a", SHA256, 1, [])


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    file = WeightFile("a", SHA256, 1, SOURCES)
    with pytest.raises(ValueError, match="two files"):
        Weights(tmp_path, [file, file], environ={})


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/a", "model.bin", ""])
def test_a_release_is_behind_http(url: str) -> None:
    with pytest.raises(ValueError, match="http"):
        ReleaseFile(url)


@pytest.mark.parametrize(
    ("package", "version"),
    [("--index-url=x", "1"), ("six", "--pre"), ("six ; x", "1"), ("six", "1 2"), ("a/b", "1")],
)
def test_a_package_cannot_pass_for_an_option(package: str, version: str) -> None:
    with pytest.raises(ValueError, match="no package"):
        IndexFile(package, version, ["a"])
    with pytest.raises(ValueError, match="no package"):
        NpmFile(package, version, ["a"])


def test_members_are_a_list() -> None:
    with pytest.raises(ValueError, match="list"):
        IndexFile("six", "1.0", "six.py")
    with pytest.raises(ValueError, match="list"):
        IndexFile("six", "1.0", [])


def test_a_source_names_itself_without_secrets() -> None:
    url = "https://me:secret@example.org/a/model.bin?token=secret"
    assert str(ReleaseFile(url)) == "https://example.org/a/model.bin"
    assert str(HubFile("o/r", "abc", "m.bin")) == "hub o/r@abc/m.bin"
    assert str(IndexFile("six", "1.0", ["a"])) == "pip six 1.0"
    assert str(NpmFile("@scope/a", "1.0", ["a"])) == "npm @scope/a 1.0"
