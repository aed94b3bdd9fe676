"""An adapter that prints wherever it can, as its libraries and their children do."""

import os
import subprocess
from collections.abc import Iterator

from rhapsode_worker import Engine, LicenseFields, NativeFormat, SpeakRequest, Variant, Voice, serve

print("printed at import")  # noqa: T201  # what this adapter is for


class Chatty(Engine):
    """Plays silence, noisily."""

    id = "chatty"
    display_name = "Chatty"
    license = LicenseFields(code="MIT", weights="none", weights_commercial_use=True)
    native_format = NativeFormat()

    def variants(self) -> dict[str, Variant]:
        return {"only": Variant()}

    def load(self, variant: str) -> None:
        print("printed in load")  # noqa: T201
        os.write(1, b"written below Python\n")
        subprocess.run(["echo", "printed by a child"], check=True)

    def unload(self) -> None:
        print("printed in unload")  # noqa: T201

    def voices(self) -> list[Voice]:
        print("printed in voices")  # noqa: T201
        return []

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        print("x" * 100_000)  # noqa: T201
        print('{"ready":true,"contract":1,"engine":"fake","listen":"tcp:127.0.0.1:1"}')  # noqa: T201
        yield bytes(4800)


if __name__ == "__main__":
    serve(Chatty())
