"""Building for real: uv, pip, the package index, a compiler that is not there."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from rhapsode.installs.builder import Builder
from rhapsode.installs.catalog import CatalogRecord, load_catalog
from rhapsode.settings.model import InstallSettings
from rhapsode_contract import Internal, License

from .reports import KeptReport

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PACKAGES = Path(__file__).parents[3]
TONE = load_catalog()["tone"]
PROGRAMS = {"uv": Path(sys.executable).parent, "pip": Path("/nowhere")}
"""Where the builder finds uv, and where it finds none."""

each_tool = pytest.mark.parametrize("tool", PROGRAMS)

RECORD = CatalogRecord(
    id="it",
    display_name="It",
    license=License(code="MIT", weights="none", weights_commercial_use=True),
    package="rhapsode-engine-it",
    module="it",
    variants=("one",),
    devices=("cpu",),
    download_bytes=1,
)


async def build(
    record: CatalogRecord,
    slot: Path,
    sources: Path,
    tool: str,
    report: KeptReport,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Builds as a core would, with uv or without."""
    # Whoever runs the tests may have uv on the path.
    path = os.pathsep.join(
        folder
        for folder in os.environ["PATH"].split(os.pathsep)
        if shutil.which("uv", path=folder) is None
    )
    install = InstallSettings(venv_dir=slot.parent, source_dir=sources, python=sys.executable)
    variables = {**os.environ, "PATH": path, **(environ or {})}
    builder = Builder(install, variables, "0.1.0", programs=PROGRAMS[tool])
    with anyio.fail_after(300):
        await builder.build(record, slot, report)


def copy_sources(folder: Path) -> Path:
    """Copies what an install of tone is made from, as nobody else changes it meanwhile."""
    for package in (TONE.package, "rhapsode-worker", "rhapsode-http", "rhapsode-contract"):
        for part in ("src", "pyproject.toml", "constraints.txt"):
            source = PACKAGES / package / part
            if source.is_dir():
                leave = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, folder / package / part, ignore=leave)
            elif source.exists():
                shutil.copy(source, folder / package / part)
    return folder


def digest(folder: Path) -> dict[str, str]:
    """Returns every file of a folder with its content, and every folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in folder.rglob("*")
    }


def write_package(folder: Path, code: str) -> Path:
    """Writes a package of one module that nobody else needs; returns its folder."""
    package = folder / RECORD.package
    (package / "it").mkdir(parents=True, exist_ok=True)
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
        f'[project]\nname = "{RECORD.package}"\nversion = "0.1.0"\n\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["it"]\n',
        "utf-8",
    )
    (package / "it" / "__init__.py").touch()
    (package / "it" / "__main__.py").write_text(code, "utf-8")
    return package


def write_extension(folder: Path) -> None:
    """Writes a package that has to be compiled."""
    package = folder / RECORD.package
    package.mkdir(parents=True)
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n\n'
        f'[project]\nname = "{RECORD.package}"\nversion = "0.1.0"\n',
        "utf-8",
    )
    setup = (
        'from setuptools import Extension, setup\nsetup(ext_modules=[Extension("it", ["it.c"])])\n'
    )
    (package / "setup.py").write_text(setup, "utf-8")
    (package / "it.c").touch()


@pytest.mark.contract("10.building.sources", "10.building.sources-unwritten")
@pytest.mark.parametrize("tool", ["uv", pytest.param("pip", marks=pytest.mark.soak)])
async def test_tone_is_built_from_sources_that_stay_as_they_are(tmp_path: Path, tool: str) -> None:
    sources = copy_sources(tmp_path / "sources")
    before = digest(sources)
    slot, report = tmp_path / "venvs" / "tone", KeptReport()
    await build(TONE, slot, sources, tool, report)
    assert report.steps == ["venv", "packages", "verify"]
    assert ("uv" in report.commands[0]) == (tool == "uv")
    assert digest(sources) == before
    code = "import rhapsode_engine_tone, rhapsode_worker, sys; print(rhapsode_worker.__file__)"
    where = subprocess.run(  # noqa: ASYNC221
        [slot / "bin" / "python", "-P", "-c", code], check=True, capture_output=True, text=True
    )
    assert Path(where.stdout.strip()).is_relative_to(slot)


@pytest.mark.contract("10.building.message")
@each_tool
async def test_a_missing_compiler_is_named_and_not_the_package_that_wanted_it(
    tmp_path: Path, tool: str
) -> None:
    sources, report = tmp_path / "sources", KeptReport()
    write_extension(sources)
    slot = tmp_path / "venvs" / "it"
    with pytest.raises(Internal) as failure:
        await build(RECORD, slot, sources, tool, report, {"CC": "no-such-compiler"})
    assert "pip install" in failure.value.message
    assert failure.value.message.endswith("No such file or directory: 'no-such-compiler'")
    assert report.lines[-1] not in failure.value.message
    assert report.steps[-1] == "packages"


async def test_a_failed_build_can_be_built_over(tmp_path: Path) -> None:
    sources, slot = tmp_path / "sources", tmp_path / "venvs" / "it"
    write_package(sources, "raise ImportError('libgone.so.1: cannot open shared object file')")
    with pytest.raises(Internal, match=r"ImportError: libgone\.so\.1: cannot open"):
        await build(RECORD, slot, sources, "uv", KeptReport())
    # Only its code has changed: uv would take the wheel that it has built once.
    write_package(sources, "")
    await build(RECORD, slot, sources, "uv", KeptReport())


@each_tool
async def test_an_interpreter_out_of_range_fails_naming_both(tmp_path: Path, tool: str) -> None:
    record = replace(RECORD, python=">=3.98,<3.99")
    with pytest.raises(Internal, match=r"3\.98") as failure:
        await build(record, tmp_path / "venvs" / "it", tmp_path, tool, KeptReport())
    assert tool == "uv" or sys.executable in failure.value.message


@pytest.mark.contract("10.building.cancelled")
@each_tool
@pytest.mark.parametrize(
    "step",
    [
        pytest.param("venv", marks=pytest.mark.soak),
        "packages",
        pytest.param("verify", marks=pytest.mark.soak),
    ],
)
async def test_a_build_cut_off_in_the_middle_leaves_nothing_to_trip_over(
    tmp_path: Path, tool: str, step: str
) -> None:
    sources, slot, report = tmp_path / "sources", tmp_path / "venvs" / "it", KeptReport()
    write_package(sources, "print('importing', flush=True)\nimport time\ntime.sleep(600)\n")
    started = {"venv": "$ ", "packages": "Processing" if tool == "pip" else "Resolved"}

    with anyio.fail_after(100):
        async with anyio.create_task_group() as tasks:

            def cancel(line: str) -> None:
                if report.steps[-1] == step and line.startswith(started.get(step, "importing")):
                    tasks.cancel_scope.cancel()

            report.heard = cancel
            tasks.start_soon(build, RECORD, slot, sources, tool, report)
    assert report.steps[-1] == step
    assert not running_with(slot)
    write_package(sources, "")
    await build(RECORD, slot, sources, tool, KeptReport())


def running_with(path: Path) -> list[str]:
    """Returns the commands of all processes that name a path and can still do something."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it has ended meanwhile
        if str(path) in command:
            found.append(command)
    return found
