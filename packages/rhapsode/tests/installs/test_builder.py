"""What the builder asks of uv and of interpreters, which programs of the tests stand in for."""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest
from rhapsode.installs.builder import Builder
from rhapsode.installs.catalog import CatalogRecord
from rhapsode.settings.model import InstallSettings
from rhapsode_contract import Internal, License

from .reports import KeptReport

pytestmark = [pytest.mark.anyio, pytest.mark.slow]  # four processes a build

PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
BASE = Path(sys.base_prefix) / "bin" / PYTHON

RECORD = CatalogRecord(
    id="it",
    display_name="It",
    license=License(code="MIT", weights="none", weights_commercial_use=True),
    package="rhapsode-engine-it",
    module="it",
    variants=("one",),
    devices=("cpu",),
    download_bytes=1,
    is_published=True,
)
NARROW = replace(RECORD, python=">=3.11,<3.99")


@dataclass
class Box:
    """A machine with a stand-in for uv and no other."""

    folder: Path

    report: KeptReport

    python: str = "3.11"

    @property
    def slot(self) -> Path:
        return self.folder / "venvs" / "it"

    @property
    def sources(self) -> Path:
        return self.folder / "sources"

    @property
    def uv(self) -> Path:
        return self.folder / "bin" / "uv"

    @property
    def asked(self) -> list[str]:
        """What uv was asked, in order."""
        asked = self.uv.with_name("uv.asked")
        return asked.read_text("utf-8").splitlines() if asked.exists() else []

    def first(self, script: str) -> None:
        """Has uv do something before the rest."""
        self.uv.with_name("uv.first").write_text(script, "utf-8")

    def interpreter(self, version: str) -> Path:
        """Makes a program that says it is a Python of some version."""
        program = self.folder / "bin" / f"python-{version}"
        program.write_text(f'#!/bin/sh\n[ "$1" = -c ] && echo {version}\n', "utf-8")
        program.chmod(0o755)
        return program

    async def build(
        self, record: CatalogRecord = RECORD, environ: Mapping[str, str] | None = None
    ) -> None:
        """Builds in the slot."""
        install = InstallSettings(
            venv_dir=self.slot.parent, source_dir=self.sources, python=self.python
        )
        variables = {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", **(environ or {})}
        builder = Builder(install, variables, "0.3.0", programs=self.folder)
        with anyio.fail_after(20):
            await builder.build(record, self.slot, self.report)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """A machine that has uv."""
    box = Box(tmp_path, KeptReport())
    box.uv.parent.mkdir()
    text = Path(__file__).with_name("stand_in_uv.sh").read_text("utf-8")
    for name, value in {
        "PYTHON": PYTHON,
        "EXECUTABLE": str(BASE),
        "HOME_FOLDER": str(BASE.parent),
    }.items():
        text = text.replace(name, value)
    box.uv.write_text(text, "utf-8")
    box.uv.chmod(0o755)
    return box


def write_package(folder: Path, name: str, *needs: str) -> Path:
    """Writes a package's metadata; returns its folder."""
    (folder / name).mkdir(parents=True)
    listed = ", ".join(f'"{need}"' for need in needs)
    text = f'[project]\nname = "{name}"\ndependencies = [{listed}]\n'
    (folder / name / "pyproject.toml").write_text(text, "utf-8")
    return folder / name


@pytest.mark.contract("10.building.steps")
async def test_a_virtualenv_is_made_filled_and_tried(box: Box) -> None:
    await box.build()
    assert box.report.steps == ["venv", "packages", "verify"]
    assert [line.split()[0] for line in box.asked] == ["venv", "pip"]
    assert (box.slot / "pyvenv.cfg").is_file()


@pytest.mark.contract("10.building.range-uv")
async def test_uv_is_handed_the_range_of_an_engine_that_is_narrower_than_the_sdk(box: Box) -> None:
    await box.build(NARROW)
    assert f"--python {NARROW.python} " in box.asked[0]


async def test_uv_that_looks_in_a_range_finds_the_configured_interpreter_first(box: Box) -> None:
    kept = box.folder / "kept"
    kept.mkdir()
    (kept / "python3.12").touch(0o755)
    (box.folder / "link").symlink_to(kept / "python3.12")
    box.python = str(box.folder / "link")
    box.first('[ $1 = venv ] && echo "path $PATH"')
    await box.build(NARROW)
    assert any(line.startswith(f"path {kept}:") for line in box.report.lines)


async def test_uv_is_handed_the_configured_interpreter_for_any_other(box: Box) -> None:
    box.python = "3.12"
    await box.build()
    assert "--python 3.12 " in box.asked[0]


@pytest.mark.contract("10.building.pinned")
async def test_a_published_package_is_pinned_to_the_cores_version(box: Box) -> None:
    await box.build()
    assert box.asked[1] == f"pip install --python {box.slot}/bin/python rhapsode-engine-it==0.3.0"


@pytest.mark.contract("10.building.unpublished")
async def test_an_unpublished_package_is_never_asked_for_by_name(box: Box) -> None:
    with pytest.raises(Internal, match="not published") as failure:
        await box.build(replace(RECORD, is_published=False))
    assert str(box.sources) in failure.value.message
    assert [line.split()[0] for line in box.asked] == ["venv"]
    assert box.report.steps[-1] == "packages"


@pytest.mark.contract("10.building.sources")
async def test_a_folder_goes_before_the_index_and_brings_the_sdk_from_there(box: Box) -> None:
    engine = write_package(box.sources, RECORD.package, "rhapsode-worker==0.1.0", "numpy")
    worker = write_package(box.sources, "rhapsode-worker", "rhapsode-http")
    http = write_package(box.sources, "rhapsode-http")
    await box.build()
    assert len(box.asked) == 2
    assert box.asked[1].endswith(f"{engine} {worker} {http}")
    assert "==" not in box.asked[1]


@pytest.mark.contract("10.building.locked")
async def test_what_an_engine_pins_is_installed_with_hashes_and_ours_without_needs(
    box: Box,
) -> None:
    engine = write_package(box.sources, RECORD.package)
    (engine / "constraints.txt").touch()
    await box.build()
    _, pinned, ours = box.asked
    assert pinned.endswith(f"--require-hashes -r {engine}/constraints.txt")
    assert "--no-deps --build-constraints" in ours
    assert ours.endswith(f"--refresh-package {RECORD.package} {engine}")


async def test_the_commands_are_told_as_they_are_run(box: Box) -> None:
    await box.build()
    assert box.report.commands == [f"{box.uv} {line}" for line in box.asked]


@pytest.mark.contract("10.building.remains")
@pytest.mark.parametrize("is_link", [False, True])
async def test_what_lies_in_the_slot_is_removed_first(box: Box, is_link: bool) -> None:
    kept = box.folder / "kept"
    for folder in (kept, box.slot):
        folder.mkdir(parents=True)
        (folder / "remains").touch()
    if is_link:
        shutil.rmtree(box.slot)
        box.slot.symlink_to(kept)
    await box.build()
    assert not (box.slot / "remains").exists()
    assert not box.slot.is_symlink()
    assert (kept / "remains").exists()


async def test_a_slot_outside_of_the_folder_is_left_alone(box: Box) -> None:
    outside = box.folder / "outside" / "it"
    outside.mkdir(parents=True)
    install = InstallSettings(venv_dir=box.slot.parent, python="3.11")
    with anyio.fail_after(20), pytest.raises(ValueError, match="left alone"):
        await Builder(install, {}, "0.3.0").build(RECORD, outside, box.report)
    assert outside.is_dir()


@pytest.mark.contract("10.building.verify")
async def test_a_module_that_cannot_be_imported_fails_with_its_exception(box: Box) -> None:
    with pytest.raises(Internal) as failure:
        await box.build(replace(RECORD, module="another"))
    assert box.report.steps[-1] == "verify"
    assert f"{box.slot}/bin/python" in failure.value.message
    assert failure.value.message.endswith("ModuleNotFoundError: No module named 'another'")


async def test_a_module_is_not_found_in_the_folder_that_it_is_tried_in(box: Box) -> None:
    box.first(f"mkdir -p {box.slot}/loose && touch {box.slot}/loose/__main__.py")
    with pytest.raises(Internal, match="No module named 'loose'"):
        await box.build(replace(RECORD, module="loose"))


@pytest.mark.contract("10.building.verify")
async def test_it_is_imported_under_what_a_worker_is_given(box: Box) -> None:
    code = (
        "import os\n"
        "names = ('HF_HOME', 'PYTHONPATH', 'RHAPSODE_CONFIG', 'RHAPSODE_WORKER_LISTEN')\n"
        "raise SystemExit([os.environ.get(name) for name in names] + [os.environ['PATH']])"
    )
    (box.folder / "code").write_text(code, "utf-8")
    module = f"lib/{PYTHON}/site-packages/it"
    box.first(f"[ $1 = pip ] && mkdir {module} && cp {box.folder}/code {module}/__main__.py")
    environ = {"HF_HOME": "/h", "PYTHONPATH": "/p", "RHAPSODE_CONFIG": "/c"}
    with pytest.raises(Internal, match=r"\['/h', None, None, None, ") as failure:
        await box.build(environ=environ)
    assert f"{box.slot}/bin:" in failure.value.message


async def test_a_failure_of_uv_names_it_and_quotes_why(box: Box) -> None:
    box.first("[ $1 = pip ] && echo 'error: no such thing' >&2 && echo 'hint: ask' && exit 2")
    with pytest.raises(Internal) as failure:
        await box.build()
    assert failure.value.message.startswith(f"`{box.uv} pip install ")
    assert failure.value.message.endswith("failed with exit status 2: no such thing")
    assert box.report.steps[-1] == "packages"


@pytest.mark.contract("10.building.trusted-hosts")
async def test_trusted_hosts_come_from_the_cores_environment(box: Box) -> None:
    await box.build(environ={"RHAPSODE_PIP_TRUSTED_HOSTS": "a.example,b.example"})
    told = "--allow-insecure-host a.example --allow-insecure-host b.example"
    assert all(told in line for line in box.asked)


async def test_a_made_interpreter_outside_the_range_fails_naming_both(box: Box) -> None:
    old = box.interpreter("3.10.1")
    box.uv.write_text(box.uv.read_text("utf-8").replace(str(BASE) + '"', f'{old}"'), "utf-8")
    box.python = "3.10"
    with pytest.raises(Internal, match=r">=3\.11.*3\.10, is Python 3\.10\.1"):
        await box.build()
    assert len(box.asked) == 1


@pytest.mark.contract("10.building.range-venv")
async def test_without_uv_the_configured_interpreter_is_asked_before_anything_is_made(
    box: Box,
) -> None:
    box.uv.unlink()
    box.python = str(box.interpreter("3.99.0"))
    with pytest.raises(Internal) as failure:
        await box.build(NARROW)
    assert NARROW.python in failure.value.message
    assert box.python in failure.value.message
    assert "3.99.0" in failure.value.message
    assert not box.slot.exists()


async def test_without_uv_an_interpreter_that_is_nowhere_fails_naming_it(box: Box) -> None:
    box.uv.unlink()
    box.python = "no-such-python"
    with pytest.raises(Internal, match="install.python is no-such-python") as failure:
        await box.build()
    assert RECORD.python in failure.value.message


async def test_a_folder_that_cannot_be_made_is_named(box: Box) -> None:
    box.slot.parent.touch()
    with pytest.raises(Internal, match="venvs"):
        await box.build()


@pytest.mark.parametrize("step", ["venv", "pip"])
async def test_a_build_that_is_cancelled_leaves_nothing_running(box: Box, step: str) -> None:
    fifo = box.folder / "fifo"
    os.mkfifo(fifo)
    # Somebody has to read, or nobody gets to hold it.
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    box.first(f"[ $1 = {step} ] && exec 9>{fifo} && echo holding && sleep 600")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:

            def cancel(line: str) -> None:
                if line == "holding":
                    tasks.cancel_scope.cancel()

            box.report.heard = cancel
            tasks.start_soon(box.build)
        os.set_blocking(reader, True)
        read = anyio.to_thread.run_sync(os.read, reader, 1, abandon_on_cancel=True)
        assert await read == b""  # nobody holds it any more
        os.close(reader)
    assert "holding" in box.report.lines
