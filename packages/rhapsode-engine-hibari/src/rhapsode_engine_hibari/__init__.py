"""Hibari, the embedded default engine: English, small, fast, no accelerator."""

from rhapsode_engine_hibari.engine import HibariEngine

__all__ = ["HibariEngine"]
