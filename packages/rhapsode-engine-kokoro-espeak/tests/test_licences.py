"""The licence that the engine declares holds against what its process has loaded."""

import json
import re
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Final

import pytest
from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_engine_kokoro_espeak import KokoroEspeakEngine

# The small model: the licence is of what the process loads, whatever numbers are in the weights.
_PROGRAM: Final = """
import json, sys
from importlib.metadata import packages_distributions
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from rhapsode_engine_kokoro_espeak import KokoroEspeakEngine
from rhapsode_worker.requests import SpeakRequest
from small_model.release import small_release
engine = KokoroEspeakEngine({}, small_release())
engine.voice_dir = Path(sys.argv[2], "voices")
engine.weights_dir = Path(sys.argv[2], "weights")
engine.load("fp16")
for language in engine.reads:
    text = "नमस्ते" if language == "hi" else "Piano."
    b"".join(engine.speak(SpeakRequest(text, "fp16", language=language)))
owners = packages_distributions()
modules = {name.partition(".")[0] for name in sys.modules}
try:
    with open("/proc/self/maps") as maps:
        lines = [line for line in maps if ".libs/" in line or "speak" in line]
    mapped = {line.split("/")[-1].strip() for line in lines if "/" in line}
except OSError:
    mapped = set()
print(json.dumps([sorted({d for m in modules for d in owners.get(m, [])}), sorted(mapped)]))
"""

# The words that older metadata use for what SPDX has an id for.
_IDS: Final = {"MIT License": "MIT", "Apache 2.0": "Apache-2.0"}

# Its metadata say nothing of the library that it is made to carry.
_UNSAID: Final = {"espeakng-loader": {"GPL-3.0-or-later"}}

# Tools of the environment that hook themselves into every interpreter in it.
_NOT_OURS: Final = {"setuptools", "pip", "coverage"}

_LIBRARIES: Final = {
    "libespeak": "GPL-3.0-or-later",
    "libgfortran": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libquadmath": "LGPL-2.1-or-later",
    "libscipy_openblas64_": "BSD-3-Clause",
}


@pytest.fixture(scope="module")
def loaded(
    tmp_path_factory: pytest.TempPathFactory, kokoro_tests: str
) -> tuple[list[str], list[str]]:
    """Distributions and the libraries beside them, of a process that has spoken every language."""
    command = [sys.executable, "-c", _PROGRAM, kokoro_tests, str(tmp_path_factory.mktemp("kokoro"))]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    distributions, libraries = json.loads(ran.stdout)
    return [name for name in distributions if name not in _NOT_OURS], libraries


def declared() -> list[str]:
    return KokoroEspeakEngine.license.get("code", "").split(" AND ")


def licences_of(distribution: str) -> set[str]:
    if distribution in _UNSAID:
        return _UNSAID[distribution]
    about = metadata(distribution).json
    text = str(about.get("license_expression") or about.get("license") or "none")
    return {_IDS.get(part, part) for part in re.split(r" AND ", text)}


@pytest.mark.contract("4.license.most-restrictive")
def test_the_gpl_is_declared_first_and_the_english_engine_stays_free_of_it() -> None:
    assert declared()[0] == "GPL-3.0-or-later"
    assert "eSpeak NG" in KokoroEspeakEngine.license.get("notes", "")
    assert "GPL-3.0-or-later" not in KokoroEngine.license.get("code", "").split(" AND ")


@pytest.mark.contract("4.license.most-restrictive")
def test_every_distribution_loaded_is_under_a_licence_declared(
    loaded: tuple[list[str], list[str]],
) -> None:
    distributions, _ = loaded
    assert {"espeakng-loader", "hibari-tts", "onnxruntime", "numpy"} <= set(distributions)
    under = {name: licences_of(name) - {*declared()} for name in distributions}
    assert {name: ids for name, ids in under.items() if ids} == {}


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the list of what is mapped")
def test_every_library_loaded_beside_them_is_too(loaded: tuple[list[str], list[str]]) -> None:
    _, libraries = loaded
    names = {re.split(r"[-.]", library)[0] for library in libraries}
    assert "libespeak" in names
    assert {_LIBRARIES[name] for name in names} <= {*declared()}
