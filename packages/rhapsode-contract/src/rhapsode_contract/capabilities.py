"""The capability document: what an engine can do (contract § 4)."""

from typing import Literal

from pydantic import Field, model_validator

from rhapsode_contract.shape import Number, Shape
from rhapsode_contract.vocabulary import MAX_CHARACTERS_DEFAULT


class Dial(Shape):
    """A number an engine lets a request turn."""

    min: Number
    """The smallest value allowed, inclusive."""

    max: Number
    """The largest value allowed, inclusive."""

    default: Number
    """What a request that says nothing gets."""


class Cloning(Shape):
    """Whether a variant makes a voice from a reference, and what it takes."""

    supported: bool

    reference_seconds: tuple[Number, Number] | None = None
    """The shortest and the longest useful reference."""

    formats: tuple[str, ...] | None = None
    """File name endings of references, without the dot."""


class Blending(Shape):
    """Whether a variant mixes voices it has into a new one."""

    supported: bool


class Segmentation(Shape):
    """Whether long text is split, and how much of it one generation gets."""

    supported: bool

    segment_characters: int | None = None
    """Most code points in one generation."""


class DialogueSupport(Shape):
    """That a variant performs conversations, and for how many."""

    max_speakers: int


class Variant(Shape):
    """What one build of an engine can do."""

    cues: tuple[str, ...] = ()
    """Cues it performs; the rest are stripped before it sees a text."""

    deliveries: tuple[str, ...] = ()

    dials: dict[str, Dial] = Field(default_factory=dict[str, Dial])

    languages: tuple[str, ...] | None = None
    """BCP 47 tags, the default first."""

    max_characters: int | None = None
    """Most code points a request may carry."""

    cloning: Cloning | None = None
    """None: this worker predates the field; a reader falls back to `current`."""

    blending: Blending | None = None
    """None means no."""

    segmentation: Segmentation | None = None

    dialogue: DialogueSupport | None = None
    """None: it performs none."""

    @property
    def character_limit(self) -> int:
        """Most code points a request may carry, the default filled in."""
        return MAX_CHARACTERS_DEFAULT if self.max_characters is None else self.max_characters


class Streaming(Shape):
    """Whether audio arrives while more is being made."""

    supported: bool

    granularity: Literal["chunk", "sentence"] | None = None


class NativeAudio(Shape):
    """The samples a variant makes, before encoding."""

    encoding: Literal["pcm_s16le"]

    sample_rate: int
    """Hertz."""

    channels: int


class Current(Variant):
    """The variant that is resident now; absent from the document while none is."""

    variant: str
    """Its name."""

    streaming: Streaming

    native_format: NativeAudio


class EngineInfo(Shape):
    """Who an engine is."""

    id: str

    display_name: str

    adapter_version: str

    upstream_version: str | None = None


class License(Shape):
    """Both licences, which differ more often than a package's metadata shows."""

    code: str
    """SPDX expression for what the worker process runs."""

    weights: str
    """The licence of the weights, as their makers name it."""

    weights_commercial_use: bool

    notes: str | None = None


class Device(Shape):
    """What the engine computes on."""

    type: str
    """`cuda`, `rocm`, `mps` or `cpu`; a newer worker may know more, and is read all the same."""

    name: str

    vram_bytes: int | None = None
    """The card's total memory."""


class Capabilities(Shape):
    """What `GET /capabilities` answers. The first key of `variants` is the default."""

    contract: int

    engine: EngineInfo

    license: License

    device: Device

    current: Current | None = None

    variants: dict[str, Variant]

    formats: tuple[str, ...]

    @model_validator(mode="after")
    def _has_a_variant(self) -> "Capabilities":
        if not self.variants:
            raise ValueError("variants: at least one is needed, the first is the default")
        return self

    @property
    def default_variant(self) -> str:
        """The name of the variant a request gets that names none while none is resident."""
        return next(iter(self.variants))
