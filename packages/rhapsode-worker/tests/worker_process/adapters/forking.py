"""An adapter whose `speak` forks, and whose child comes back out of it as the text says."""

import os
import sys
from collections.abc import Iterator

from rhapsode_worker import Engine, LicenseFields, NativeFormat, SpeakRequest, Variant, Voice, serve


class Forking(Engine):
    """Plays silence once its child has ended, as many tenths of a second as its status says."""

    id = "forking"
    display_name = "Forking"
    license = LicenseFields(code="MIT", weights="none", weights_commercial_use=True)
    native_format = NativeFormat()

    def variants(self) -> dict[str, Variant]:
        return {"only": Variant()}

    def load(self, variant: str) -> None: ...

    def unload(self) -> None: ...

    def voices(self) -> list[Voice]:
        return []

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        child = os.fork()
        if child == 0:
            if req.text == "raises":
                raise ValueError("in the child")
            if req.text == "exits":
                sys.exit(3)
            if req.text == "yields":
                yield bytes(4800)
            return
        _, status = os.waitpid(child, 0)
        yield bytes(4800) * (1 + os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    serve(Forking())
