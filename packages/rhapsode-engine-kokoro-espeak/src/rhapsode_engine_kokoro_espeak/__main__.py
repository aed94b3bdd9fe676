"""Serves Kokoro with eSpeak NG: `python -m rhapsode_engine_kokoro_espeak`."""

import os

from rhapsode_worker import serve

from rhapsode_engine_kokoro_espeak.engine import KokoroEspeakEngine

if __name__ == "__main__":
    serve(KokoroEspeakEngine(os.environ))  # noqa: TID251 (what a fetch may read)
