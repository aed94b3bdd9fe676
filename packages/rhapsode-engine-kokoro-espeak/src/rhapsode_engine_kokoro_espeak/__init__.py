"""Kokoro-82M with eSpeak NG: English, Spanish, French, Hindi, Italian and Portuguese."""

# Kokoro's package before anything of onnxruntime's, whose telemetry it turns off.
from rhapsode_engine_kokoro_espeak.engine import KokoroEspeakEngine

__all__ = ["KokoroEspeakEngine"]
