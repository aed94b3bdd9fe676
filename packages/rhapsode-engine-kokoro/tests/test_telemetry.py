"""The engine tells nobody anything: its libraries' telemetry is off."""

import os
import subprocess
import sys
from pathlib import Path


def test_a_process_that_has_spoken_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    program = """
import sys
sys.path.insert(0, sys.argv[1])
from small_model.spoken import speak
speak(sys.argv[2])
"""
    home, folder = tmp_path / "home", tmp_path / "kokoro"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    kept.pop("ORT_DISABLE_TELEMETRY", None)
    environ = kept | {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", program, str(Path(__file__).parent), str(folder)]
    subprocess.run(command, env=environ, check=True, timeout=60)
    assert [str(path) for path in home.rglob("*") if path.is_file()] == []
