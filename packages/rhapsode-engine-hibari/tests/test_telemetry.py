"""The engine tells nobody anything: its libraries' telemetry is off."""

import os
import subprocess
import sys
from pathlib import Path


def test_a_process_that_has_spoken_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    program = """
import rhapsode_engine_hibari.__main__
from rhapsode_engine_hibari import HibariEngine
from rhapsode_worker.requests import SpeakRequest
engine = HibariEngine()
engine.load("int8")
b"".join(engine.speak(SpeakRequest("Hello.", "int8")))
"""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    kept.pop("ORT_DISABLE_TELEMETRY", None)
    environ = kept | {"HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", program], env=environ, check=True, timeout=60)
    assert [str(path) for path in tmp_path.rglob("*") if path.is_file()] == []
