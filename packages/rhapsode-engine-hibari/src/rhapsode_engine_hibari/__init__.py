"""Hibari, the embedded default engine: English, small, fast, no accelerator."""

import os

# onnxruntime 1.32 brings its maker's telemetry, on by default: it keeps a device id in the home
# folder and looks up a host. Its native code reads this at its import, so it comes before all.
os.putenv("ORT_DISABLE_TELEMETRY", "1")

from rhapsode_engine_hibari.engine import HibariEngine  # after the line above

__all__ = ["HibariEngine"]
