"""Runs the example that the contract prints, as printed, over a stand-in for its model."""

import math
from collections.abc import Iterator
from pathlib import Path

from rhapsode_worker import ALL_CUES

PRINTED = Path(__file__).parents[1] / "printed_example.txt"
RATE_HZ = 24_000


class Turbo:
    """Hums for as long as the text is, higher with a reference than without."""

    dials: frozenset[str] = frozenset()

    @classmethod
    def from_pretrained(cls, device: str) -> "Turbo":
        assert device == "cpu"
        return cls()

    def generate(self, text: str, audio_prompt_path: Path | None, **dials: float) -> list[float]:
        assert dials.keys() == self.dials
        hertz = 220 if audio_prompt_path is None else audio_prompt_path.stat().st_size
        frames = RATE_HZ * len(text) // 20
        loudness = 0.2 + dials.get("exaggeration", 0.0) / 4
        step = 2 * math.pi * hertz / RATE_HZ
        return [loudness * math.sin(step * frame) for frame in range(frames)]


class Original(Turbo):
    """The build with the dials."""

    dials = frozenset({"exaggeration", "cfg_weight"})


if __name__ == "__main__":
    exec(
        compile(PRINTED.read_text(encoding="utf-8"), str(PRINTED), "exec"),
        {
            "__name__": "__main__",
            "Iterator": Iterator,
            "ALL_CUES": ALL_CUES,
            "BUILDS": {"turbo": Turbo, "original": Original},
        },
    )
