"""The servers that are measured beside ours: how each is installed, started and asked.

In a command and in an environment `{bin}` stands for the programs of the server's virtualenv,
`{home}` for the folder of everything that is kept for the rivals, and `{port}` for its port.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

VOICE: Final = "af_heart"
GRAPH_NAME: Final = "kokoro-v1.0.int8.onnx"
VOICES_NAME: Final = "voices-v1.0.bin"


@dataclass(frozen=True)
class Way:
    """One shape of request."""

    fields: Mapping[str, object]
    """The body without the text."""

    path: str = "/v1/audio/speech"

    text_field: str = "input"

    header_bytes: int = 0
    """What comes before the samples: 44 of a WAV file."""

    def body(self, text: str) -> dict[str, Any]:
        """Returns what to send for a text."""
        return {self.text_field: text, **self.fields}


_WAV_HEADER_BYTES: Final = 44


@dataclass(frozen=True)
class Rival:
    """A server that others made."""

    name: str

    requirements: tuple[str, ...]
    """What pip is asked for; all share one onnxruntime, since versions differ in speed."""

    command: tuple[str, ...]

    ways: Mapping[str, Way]
    """Of `streamed` and `buffered`, those that it has."""

    health: str = "/health"

    environment: Mapping[str, str] = field(default_factory=dict[str, str])


_ONNXRUNTIME: Final = "onnxruntime==1.32.0"
_OFFLINE: Final = {"HF_HUB_OFFLINE": "1"}

LIBRARY: Final = ("kokoro-onnx==0.6.1", _ONNXRUNTIME)
"""What pip is asked for to have the library alone, the floor."""


def _openai_ways(model: str) -> dict[str, Way]:
    """Returns the shape that most servers share: OpenAI's, and a field to have it streamed."""
    common = {"model": model, "voice": VOICE}
    return {
        "streamed": Way({**common, "response_format": "pcm", "stream": True}),
        "buffered": Way({**common, "response_format": "wav"}, header_bytes=_WAV_HEADER_BYTES),
    }


RIVALS: Final = (
    Rival(
        name="fastkokoro",
        requirements=("fastkokoro[cpu]==0.7.0", _ONNXRUNTIME),
        command=("{bin}/fastkokoro",),
        ways=_openai_ways("kokoro"),
        environment={
            "FASTKOKORO_MODEL_PATH": f"{{home}}/weights/{GRAPH_NAME}",
            "FASTKOKORO_VOICES_PATH": f"{{home}}/weights/{VOICES_NAME}",
            "FASTKOKORO_HOST": "127.0.0.1",
            "FASTKOKORO_PORT": "{port}",
            **_OFFLINE,
        },
    ),
    Rival(
        name="ses",
        requirements=("ses[kokoro]==0.0.2", _ONNXRUNTIME),
        command=("{bin}/ses", "serve", "--host", "127.0.0.1", "--port", "{port}"),
        ways=_openai_ways("kokoro-q8"),
        health="/v1/models",
        environment={"SES_HOME": "{home}/ses-home", **_OFFLINE},
    ),
    Rival(
        name="kokoro-cli",
        requirements=("kokoro-cli==0.4.0", _ONNXRUNTIME),
        command=("{bin}/kokoro", "serve", "--port", "{port}"),
        ways={"buffered": _openai_ways("kokoro")["buffered"]},
        environment={"KOKORO_MODEL_DIR": "{home}/weights", "KOKORO_HOME": "{home}/kokoro-home"},
    ),
)
"""Of the servers of this model, those that the package index has, whose weights can be given to
them, and which are not known to be slow: kokoro-pi insists on onnxruntime 1.30.0, which takes four
times as long for the same graph. Two others come as source alone and want torch."""

_OURS: Final = {"engine": "kokoro", "variant": "int8", "voice": VOICE}

OUR_WAYS: Final = {
    "streamed": Way({**_OURS, "format": "pcm", "stream": True}, "/speak", "text"),
    "buffered": Way(
        {**_OURS, "format": "wav", "stream": False}, "/speak", "text", _WAV_HEADER_BYTES
    ),
}
