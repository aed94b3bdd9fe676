"""What the rivals live on: a virtualenv each, and the weights where each of them looks."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from rhapsode_engine_kokoro.roster import NAMES

from bench.processes import ROOT
from bench.rivals.roster import GRAPH_NAME, VOICES_NAME

HOME: Final = ROOT / ".cache" / "rivals"

OUR_WEIGHTS: Final = ROOT / ".cache" / "kokoro"
"""Fetched by `script/bench`."""

_PYTHON: Final = ROOT / ".venv" / "bin" / "python"
_TOOLING: Final = ROOT / "script" / "tooling"
_STYLE_SHAPE: Final = (510, 1, 256)

_PREPARE: Final = """
import sys
from pathlib import Path
from environment import Environment, prepare
name, folder, lock = sys.argv[1:]
prepare(Environment(name, Path(folder), (Path(lock),)))
"""


class NotInstalled(Exception):
    """Something of a rival cannot be had here; the message says what failed."""


def install(name: str, requirements: Sequence[str]) -> Path:
    """Makes a rival's virtualenv, at once where it is made; returns its programs' folder.

    The versions of what it needs are those of the day on which it was first asked for, as they
    would be for anybody who installs it; they are kept beside it.

    Raises:
        NotInstalled: It cannot be had.
    """
    HOME.mkdir(parents=True, exist_ok=True)
    lock = HOME / f"{name}.txt"
    asked = f"# {' '.join(requirements)}\n"
    if not (lock.is_file() and lock.read_text("utf-8").startswith(asked)):
        command = ["-m", "uv", "pip", "compile", "--quiet", "--generate-hashes", "--no-header"]
        command += ["--python-version", "3.11", "--no-annotate", "--no-emit-index-url", "-"]
        pins = _run([*command], text="\n".join(requirements))
        lock.write_text(asked + pins, "utf-8")
    _run(["-c", _PREPARE, name, HOME / name, lock])
    return HOME / name / "bin"


def arrange_weights() -> None:
    """Puts the same weights where each rival looks for them; copies nothing but the voices."""
    weights = HOME / "weights"
    weights.mkdir(parents=True, exist_ok=True)
    _link(weights / GRAPH_NAME, OUR_WEIGHTS / GRAPH_NAME)
    _write_voices(weights / VOICES_NAME)
    model = HOME / "ses-home" / "models" / "kokoro-q8"
    (model / "onnx").mkdir(parents=True, exist_ok=True)
    _link(model / "onnx" / "model_quantized.onnx", OUR_WEIGHTS / GRAPH_NAME)
    _link(model / "voices.npz", weights / VOICES_NAME)
    manifest = {"name": "kokoro-q8", "kind": "tts", "engine": "kokoro-onnx"}
    (model / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def _write_voices(path: Path) -> None:
    """Writes the voices as upstream publishes them, byte for byte."""
    if path.exists():
        return
    styles = np.fromfile(OUR_WEIGHTS / "voices-v1.0.f32", "<f4").reshape(len(NAMES), *_STYLE_SHAPE)
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        np.savez(file, **dict(zip(NAMES, styles, strict=True)))  # pyright: ignore[reportArgumentType]  # arrays, not its flag
    unfinished.replace(path)


def _link(path: Path, target: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _run(arguments: Sequence[str | Path], text: str = "") -> str:
    """Runs Python with the tooling at hand; returns what it printed."""
    done = subprocess.run(
        [_PYTHON, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(_TOOLING), "UV_SYSTEM_CERTS": "1"},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotInstalled(done.stderr.strip() or done.stdout.strip())
    return done.stdout
