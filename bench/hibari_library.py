"""hibari without a server: reads texts as JSON lines, says how long each took.

Run by the Python of hibari's own virtualenv, which has nothing else of ours.
"""

import json
import sys
import time

from hibari import Hibari  # pyright: ignore[reportMissingTypeStubs]  # it has none


def main() -> None:
    """Answers each line until there are no more."""
    hibari = Hibari(threads=1)
    hibari("Hello.")
    print(json.dumps({"rate": hibari.sample_rate}), flush=True)
    for line in sys.stdin:
        text = json.loads(line)
        begun = time.perf_counter()
        first = 0.0
        samples = 0
        for audio in hibari.stream(text):  # pyright: ignore[reportUnknownMemberType]  # untyped
            first = first or time.perf_counter() - begun
            samples += len(audio)
        took = time.perf_counter() - begun
        print(json.dumps({"first": first, "total": took, "samples": samples}), flush=True)


if __name__ == "__main__":
    main()
