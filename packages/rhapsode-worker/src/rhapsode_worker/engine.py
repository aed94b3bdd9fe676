"""The one class an engine author writes (contract § 8)."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import ClassVar, TypedDict

from rhapsode_contract import UnknownVoice, Voice

from rhapsode_worker.devices import Device, DeviceType
from rhapsode_worker.fetch_watch import is_fetch_abandoned
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.pcm import pcm_pieces
from rhapsode_worker.requests import DialogueRequest, SpeakRequest, snake_case
from rhapsode_worker.variant import Variant
from rhapsode_worker.voicing.new_voice import NewVoice


class LicenseFields(TypedDict, total=False):
    """Both licences of an engine, by hand: no package metadata shows them."""

    code: str
    """SPDX expression for what the worker process runs, not for the adapter alone."""

    weights: str

    weights_commercial_use: bool

    notes: str
    """Which dependency decides, and where the terms can be read. May be left out."""


class Engine(ABC):
    """A text-to-speech engine behind the worker protocol.

    The SDK calls `load`, `unload` and `speak` on one thread of its own, one call at a time, so
    they may block; `voices` may run beside them. Anything printed goes to the log: standard
    output belongs to the handshake.
    """

    id: ClassVar[str]
    """What clients call the engine: ASCII letters, digits, `-`, `_`, `.` and `:`."""

    display_name: ClassVar[str]

    license: ClassVar[LicenseFields]

    native_format: ClassVar[NativeFormat]
    """The samples that `speak` yields. The SDK makes every other format from them."""

    adapter_version: ClassVar[str] = "0.1.0"

    upstream_version: ClassVar[str | None] = None
    """Version of the library or model inside, where it has one."""

    device_types: ClassVar[Collection[DeviceType]] = ("cuda", "rocm", "mps", "cpu")
    """What the engine can compute on."""

    concurrency: ClassVar[int] = 1
    """How many utterances `speak` can make at once, each on a thread of its own."""

    queue_limit: ClassVar[int] = 32
    """Most requests that wait in line, loads among them; one more is `overloaded`."""

    reference_formats: ClassVar[Collection[str]] = ("wav",)
    """File types, lower case and without the dot, that `create_voice` makes a voice from."""

    max_speakers: ClassVar[int] = 2
    """How many may speak in one `dialogue`."""

    device: Device
    """What it computes on; set by the SDK before `load`."""

    voice_dir: Path
    """Folder for what the engine keeps of voices; set by the SDK, made on first use."""

    weights_dir: Path
    """Folder for the engine's weights; set by the SDK, made on first use."""

    variant: str | None = None
    """Name of the resident variant; set by the SDK while `load` runs and until `unload` ends."""

    @abstractmethod
    def variants(self) -> dict[str, Variant]:
        """Returns what can be loaded here, by name, the default first; at least one."""

    @abstractmethod
    def load(self, variant: str) -> None:
        """Puts a variant on the device.

        Raises:
            MemoryError, or an error whose name or message says out of memory: `oom`.
            OSError: `model_unavailable`; the weights cannot be had now.
            DeviceLost: The device is of no more use to this process, which is replaced.
            Exception: Any other is `internal`. Whatever it is, `unload` is called, and then
                `load` once more, before a caller hears of it (contract § 3).
        """

    @abstractmethod
    def unload(self) -> None:
        """Takes the model off the device. Called after a failed `load` too."""

    @abstractmethod
    def voices(self) -> list[Voice]:
        """Returns the voices there are; may be called at any time, from any thread."""

    @abstractmethod
    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        """Speaks a text, giving each piece of audio as soon as it exists.

        When the listener leaves, the iterator is closed at its next piece: `finally` blocks run.

        Yields:
            Samples in the native format, in order and without gaps, pieces of any size.

        Raises:
            RhapsodeError: Goes to the caller as it is.
            Exception: Any other is `oom` where it says so, else `internal`.
        """

    # What an adapter may add. Each is declared exactly where it is overridden.

    def create_voice(self, new: NewVoice) -> None:
        """Makes a voice from `new.reference`; one of this id that exists is replaced.

        Loads no model: what needs one happens at the first `speak` (contract § 7). Called on a
        thread of its own, one create or delete at a time, beside `speak`. `VoiceStore` keeps what
        arrives; a `transcript` may be ignored, or demanded by `BadRequest` naming the field.
        """
        raise NotImplementedError

    def blend_voice(self, new: NewVoice) -> None:
        """Makes a voice from the recipe `new.blend`, resolved now. Otherwise as `create_voice`.

        The voices that it names exist.
        """
        raise NotImplementedError

    def delete_voice(self, voice_id: str) -> None:
        """Deletes a voice that exists.

        Raises:
            Unsupported: It is the engine's own.
        """
        raise NotImplementedError

    def preview(self, voice_id: str) -> Path | None:
        """Returns a WAV file that a voice is heard in, or None where there is none.

        Never makes one: a preview loads no model.
        """
        raise NotImplementedError

    def fetch(self, variant: str) -> None:
        """Downloads a variant's weights to `weights_dir` or wherever the engine keeps them.

        Puts nothing on the device; returns at once where they are there. Called on a thread of its
        own, beside `speak`; four run at once, and one that is abandoned is one of them until it
        ends. `Weights.fetch` does the downloading; give it `is_fetch_abandoned`.
        """
        raise NotImplementedError

    def dialogue(self, req: DialogueRequest) -> Iterator[bytes]:
        """Speaks a conversation in one take. Otherwise as `speak`."""
        raise NotImplementedError

    def memory_bytes(self) -> int | None:
        """Returns what the resident model holds of the device, or None to have it measured."""
        return None

    # What an adapter may use.

    def is_fetch_abandoned(self) -> bool:
        """Whether nobody waits for this `fetch` any more: to be asked on its thread, between two
        pieces of a download. What has arrived is kept for the next one.
        """
        return is_fetch_abandoned()

    def dials_for(self, req: SpeakRequest) -> Mapping[str, float]:
        """Returns every dial of the variant in snake_case, for a call's keyword arguments."""
        return {snake_case(name): value for name, value in req.params.items()}

    def path_for(self, voice: str | None) -> Path | None:
        """Returns the reference in `voice_dir` that a voice is kept in, or None for no voice.

        Only files of `reference_formats` count, and a link never does: it may lead anywhere.

        Raises:
            UnknownVoice: There is none of that name.
        """
        if voice is None:
            return None
        # Listed and compared, never globbed by the id: an id is no pattern (contract § 7).
        if self.voice_dir.is_dir():
            for path in sorted(self.voice_dir.iterdir()):
                if path.stem == voice and self._is_reference(path):
                    return path
        raise UnknownVoice(f"voice: there is no {voice!r}", field="voice")

    def _is_reference(self, path: Path) -> bool:
        is_listed = path.suffix.removeprefix(".").lower() in self.reference_formats
        return is_listed and path.is_file() and not path.is_symlink()

    def pcm_of(self, samples: object) -> Iterator[bytes]:
        """Yields floating-point audio as 16-bit samples, in pieces of a second.

        Args:
            samples: A numpy array, a torch tensor or a sequence of numbers, values in
                [-1.0, 1.0] (beyond is clipped), shape (n,), (1, n) or (channels, n).
        """
        return pcm_pieces(samples, self.native_format)
