"""Serves Hibari: `python -m rhapsode_engine_hibari`."""

from rhapsode_worker import serve

from rhapsode_engine_hibari.engine import HibariEngine

if __name__ == "__main__":
    serve(HibariEngine())
