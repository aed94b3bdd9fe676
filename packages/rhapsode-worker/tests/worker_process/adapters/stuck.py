"""An adapter that hangs in `voices`, and whose load starts a child that never ends."""

import subprocess
import threading
from collections.abc import Iterator

from rhapsode_worker import Engine, LicenseFields, NativeFormat, SpeakRequest, Variant, Voice, serve


class Stuck(Engine):
    """Never lists its voices."""

    id = "stuck"
    display_name = "Stuck"
    license = LicenseFields(code="MIT", weights="none", weights_commercial_use=True)
    native_format = NativeFormat()

    def variants(self) -> dict[str, Variant]:
        return {"only": Variant()}

    def load(self, variant: str) -> None:
        subprocess.Popen(["sleep", "1000"])

    def unload(self) -> None: ...

    def voices(self) -> list[Voice]:
        print("listing")  # noqa: T201  # seen in the log
        threading.Event().wait()
        raise AssertionError("unreachable")

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        yield bytes(4800)


if __name__ == "__main__":
    serve(Stuck())
