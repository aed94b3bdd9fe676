"""Tones from a model that stops at its own limit, in the middle of a text where it is long."""

from collections.abc import Generator
from dataclasses import replace

from rhapsode_engine_tone import ToneEngine
from rhapsode_worker import SpeakRequest, Variant, serve

LIMIT = 60


class Limited(ToneEngine):
    """Says when it was cut off, as an adapter has to that can tell."""

    id = "limited"

    def variants(self) -> dict[str, Variant]:
        return {"split": Variant(segment_characters=LIMIT), "whole": Variant()}

    def speak(self, req: SpeakRequest) -> Generator[bytes, None, None]:
        yield from super().speak(replace(req, text=req.text[:LIMIT]))
        if len(req.text) > LIMIT:
            raise RuntimeError("the model stopped at its limit")


if __name__ == "__main__":
    serve(Limited())
