"""One sine through a whole text, whatever it is cut into."""

import math
from collections.abc import Iterator

from rhapsode_worker import Engine, LicenseFields, NativeFormat, SpeakRequest, Variant, Voice, serve

RATE_HZ = 24_000
HERTZ = 440
AMPLITUDE = 0.5
FRAMES_PER_CHARACTER = RATE_HZ // 20


class Sine(Engine):
    """Carries on at each segment where the one before left off, and yields odd bits of samples."""

    id = "sine"
    display_name = "Sine"
    license = LicenseFields(code="MIT", weights="none", weights_commercial_use=True)
    native_format = NativeFormat(encoding="pcm_s16le", sample_rate=RATE_HZ, channels=1)

    def variants(self) -> dict[str, Variant]:
        return {"only": Variant(segment_characters=40)}

    def load(self, variant: str) -> None: ...

    def unload(self) -> None: ...

    def voices(self) -> list[Voice]:
        return [Voice(id="sine", label="Sine", spec="sine-1")]

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        begin = req.carried.get("frames", 0)
        end = req.carried["frames"] = begin + len(req.text) * FRAMES_PER_CHARACTER
        step = 2 * math.pi * HERTZ / RATE_HZ
        pcm = b"".join(self.pcm_of([AMPLITUDE * math.sin(step * n) for n in range(begin, end)]))
        for at in range(0, len(pcm), 1001):
            yield pcm[at : at + 1001]


if __name__ == "__main__":
    serve(Sine())
