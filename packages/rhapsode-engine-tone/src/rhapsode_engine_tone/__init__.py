"""An engine that plays tones: the measure of the worker protocol, and its smallest example."""

from rhapsode_engine_tone.engine import ToneEngine

__all__ = ["ToneEngine"]
