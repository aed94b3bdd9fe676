"""Serves Kokoro: `python -m rhapsode_engine_kokoro`."""

import os

from rhapsode_worker import serve

from rhapsode_engine_kokoro.engine import KokoroEngine

if __name__ == "__main__":
    serve(KokoroEngine(os.environ))  # noqa: TID251 (what a fetch may read: the hub's, pip's, npm's)
