"""The folder that voices are kept in, which nobody has made yet."""

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "above" / "voices"
