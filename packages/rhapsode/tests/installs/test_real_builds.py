"""Jobs whose virtualenvs are built for real."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from rhapsode.installs.builder import Builder
from rhapsode.settings.model import InstallSettings

from .box import VERSION, open_box

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(300)]

PACKAGES = Path(__file__).parents[3]


@pytest.mark.contract("10.install.steps", "10.reinstall.slots", "10.uninstall.removes")
async def test_an_engine_is_installed_built_anew_beside_itself_and_removed(
    tmp_path: Path,
) -> None:
    settings = InstallSettings(
        venv_dir=tmp_path / "venvs", source_dir=PACKAGES, python=sys.executable
    )
    async with open_box(tmp_path, builder=Builder(settings, os.environ, VERSION)) as box:
        job = box.installer.install("tone", pull=None, accept=None)
        told = await box.until_over(job.id)
        assert box.jobs.job(job.id).shape().error is None
        assert any(event.kind == "log" and event.message for event in told)
        first = box.venv_of("tone")
        job = box.installer.reinstall("tone", accept=None)
        await box.until_over(job.id)
        assert box.jobs.job(job.id).shape().error is None
        second = box.venv_of("tone")
        assert (first, second) == (box.venvs / "tone", box.venvs / "tone.alt")
        assert [*box.lying_there] == ["tone.alt"]
        python = box.venvs / "tone.alt" / "bin" / "python"
        await anyio.run_process([str(python), "-c", "import rhapsode_engine_tone.__main__"])
        await box.installer.uninstall("tone")
        assert box.lying_there == {}
