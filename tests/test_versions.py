"""One version, everywhere."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECTS = {
    path.parent.name: tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in sorted(ROOT.glob("packages/*/pyproject.toml"))
}


@pytest.mark.contract("9.versions.one")
def test_every_package_has_the_newest_version_of_the_change_log() -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", log, flags=re.MULTILINE)
    assert newest is not None
    assert {name: project["version"] for name, project in PROJECTS.items()} == dict.fromkeys(
        PROJECTS, newest[1]
    )


def test_our_packages_ask_for_each_other_at_exactly_that_version() -> None:
    for name, project in PROJECTS.items():
        for need in project["dependencies"]:
            if need.startswith("rhapsode"):
                assert need.endswith(f"=={project['version']}"), f"{name}: {need}"


def test_every_package_is_named_after_its_folder_and_licensed() -> None:
    for name, project in PROJECTS.items():
        assert project["name"] == name
        assert project["license"] == "MIT"
        assert project["requires-python"] == ">=3.11"
