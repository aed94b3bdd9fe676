"""Serves the tone engine: `python -m rhapsode_engine_tone`."""

import os

from rhapsode_worker import serve

from rhapsode_engine_tone.engine import ToneEngine
from rhapsode_engine_tone.misbehaviour import VARIABLE, parse
from rhapsode_engine_tone.sabotage import SabotagedTone, sabotage_start


def main() -> None:
    """Serves tones, badly if the environment asks for it."""
    misbehaviour = parse(os.environ.get(VARIABLE, ""))  # noqa: TID251 (the only way in from a test)
    if not misbehaviour:
        serve(ToneEngine())
        return
    sabotage_start(misbehaviour)
    serve(SabotagedTone(misbehaviour))


if __name__ == "__main__":
    main()
