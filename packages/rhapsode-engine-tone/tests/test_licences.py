"""The licence that the engine declares holds against what its process has loaded."""

import json
import subprocess
import sys
from importlib.metadata import metadata
from typing import Final

import pytest
from rhapsode_engine_tone import ToneEngine

_PROGRAM = """
import json, sys
from pathlib import Path
from importlib.metadata import packages_distributions
import rhapsode_engine_tone.__main__
from rhapsode_engine_tone import ToneEngine
from rhapsode_worker.requests import SpeakRequest
engine = ToneEngine()
engine.voice_dir = Path("no-voices")
engine.load("plain")
b"".join(engine.speak(SpeakRequest("Hello.", "plain")))
owners = packages_distributions()
modules = {name.partition(".")[0] for name in sys.modules}
print(json.dumps(sorted({d for m in modules for d in owners.get(m, [])})))
"""

# Tools of the environment that hook themselves into every interpreter in it.
_NOT_OURS: Final = {"setuptools", "pip", "coverage"}


def licences_of(distribution: str) -> set[str]:
    about = metadata(distribution).json
    return set(
        str(about.get("license_expression") or about.get("license") or "none").split(" AND ")
    )


@pytest.mark.contract("4.license.most-restrictive")
def test_every_distribution_loaded_is_under_a_licence_declared() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = [name for name in json.loads(ran.stdout) if name not in _NOT_OURS]
    declared = set(ToneEngine.license.get("code", "").split(" AND "))
    assert "starlette" in loaded
    assert {name: ids for name in loaded if (ids := licences_of(name) - declared)} == {}


def test_no_array_library_is_loaded() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )
    assert "numpy" not in json.loads(ran.stdout)
