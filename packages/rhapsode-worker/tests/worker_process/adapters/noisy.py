"""An adapter that writes on standard error in every way that its libraries know."""

import logging
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator

from rhapsode_worker import Engine, LicenseFields, NativeFormat, SpeakRequest, Variant, Voice, serve

THREADS, LINES = 8, 200


class Sour:
    """Cannot even be deleted."""

    def __del__(self) -> None:
        raise ValueError("failed unseen")


class Noisy(Engine):
    """Plays silence, and complains."""

    id = "noisy"
    display_name = "Noisy"
    license = LicenseFields(code="MIT", weights="none", weights_commercial_use=True)
    native_format = NativeFormat()

    def variants(self) -> dict[str, Variant]:
        return {"only": Variant()}

    def load(self, variant: str) -> None:
        sys.stderr.writelines(["a plain ", "line\n"])
        sys.stderr.buffer.write("bytes: \u00e9\n".encode())
        warnings.warn("deprecated thing", stacklevel=1)
        for percent in (0, 50, 100):
            sys.stderr.write(f"\r{percent}% of the weights")
            sys.stderr.flush()
        sys.stderr.write("\n")
        failing = threading.Thread(target=lambda: 1 / 0, name="failing")
        failing.start()
        failing.join()
        Sour()
        sys.stderr.write("y" * 100_000 + "\n")
        sys.stderr.close()
        logging.basicConfig(force=True, stream=sys.stderr)
        logging.getLogger("library").warning("said by a library's own handler")

    def unload(self) -> None: ...

    def voices(self) -> list[Voice]:
        sys.stderr.write("no end of line")
        return []

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        if req.text == "native":
            os.write(2, b"written below Python\n")
            subprocess.run(["/bin/sh", "-c", "echo by a child >&2"], check=True, stderr=sys.stderr)
        else:
            threads = [threading.Thread(target=self._count, args=(n,)) for n in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        yield bytes(4800)

    def _count(self, number: int) -> None:
        for line in range(LINES):
            print(f"thread {number}", f"line {line}", file=sys.stderr)  # noqa: T201  # as libraries do


if __name__ == "__main__":
    serve(Noisy())
