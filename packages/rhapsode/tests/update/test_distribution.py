"""How this rhapsode came to the box."""

from pathlib import Path

import pytest
from rhapsode.update.distribution import read_distribution


@pytest.mark.contract("9.update.distribution")
def test_the_image_says_that_it_is_one(tmp_path: Path) -> None:
    (tmp_path / "distribution").write_text("docker\n", encoding="utf-8")
    assert read_distribution(tmp_path / "distribution") == "docker"


@pytest.mark.contract("9.update.distribution")
def test_everywhere_else_it_is_source(tmp_path: Path) -> None:
    assert read_distribution(tmp_path / "missing") == "source"
    assert read_distribution(tmp_path) == "source"
    (tmp_path / "distribution").write_text("podman", encoding="utf-8")
    assert read_distribution(tmp_path / "distribution") == "source"
    (tmp_path / "distribution").write_bytes(b"\xff" * 1000)
    assert read_distribution(tmp_path / "distribution") == "source"
