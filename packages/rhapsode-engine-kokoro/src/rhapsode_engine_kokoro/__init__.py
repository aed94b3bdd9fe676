"""Kokoro-82M, the most used open voice model: English, 28 voices, and blends of them."""

import os

# onnxruntime 1.32 brings its maker's telemetry, on by default: it keeps a device id in the home
# folder and looks up a host. Its native code reads this at its import, so it comes before all.
os.putenv("ORT_DISABLE_TELEMETRY", "1")

from rhapsode_engine_kokoro.engine import KokoroEngine  # after the line above

__all__ = ["KokoroEngine"]
