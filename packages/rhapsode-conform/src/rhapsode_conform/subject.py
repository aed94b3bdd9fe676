"""The worker under check, and what is known of it by now."""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, Final, TypeVar, cast

import anyio
from anyio import CancelScope
from rhapsode_contract import Variant, read_shape
from rhapsode_http import Address

from rhapsode_conform.answer import Answer, as_list, as_object
from rhapsode_conform.outcome import Finding, expect, skipped, undecided
from rhapsode_conform.patience import Patience
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import Sound, difference, is_different
from rhapsode_conform.spawned import Spawned
from rhapsode_conform.texts import Texts
from rhapsode_conform.wire import Wire

SEED: Final = 20260917
_TAKES: Final = 4
"""Of a request that another one seems to differ from."""

T = TypeVar("T")

Spawner = Callable[..., AbstractAsyncContextManager[Spawned]]
"""Starts one more worker: `spawn(listen=…, offer=…, …)` takes the fields of a `Start`."""


@dataclass(frozen=True)
class FirstLook:
    """What the worker answered before anything was asked of it."""

    health: Answer

    capabilities: Answer

    voices: Answer


@dataclass
class Subject:
    """What a check is given."""

    wire: Wire

    first: FirstLook

    patience: Patience

    wanted_variant: str | None = None
    """The only variant that may be looked at; None: whichever shows a promise."""

    texts: Texts = field(default_factory=Texts)
    """What it is asked to say."""

    worker: Spawned | None = None
    """The process behind `wire`, where this tool started it."""

    spawn: Spawner | None = None

    others: list[Spawned] = field(default_factory=list[Spawned])
    """Every other process that this tool started for this subject."""

    could_connect: bool = True
    """Whether the connection made as soon as the handshake was read was accepted."""

    recordings: dict[str, Answer] = field(default_factory=dict[str, Answer])
    """What came of requests that are asked once, by the request."""

    waiting: CancelScope = field(default_factory=CancelScope)
    """What ends the check that runs once it takes too long."""

    _known: dict[str, object] = field(default_factory=dict[str, object])

    # --- What it says of itself -----------------------------------------------------------------

    @property
    def document(self) -> dict[str, Any]:
        """The capability document as it was at first, raw."""
        return self.first.capabilities.object

    @cached_property
    def variants(self) -> dict[str, Variant]:
        """The variants that may be looked at and can be read, the one to be asked first."""
        declared = as_object(self.document.get("variants"))
        readable = {
            name: variant
            for name, fields in declared.items()
            if (variant := _variant(fields)) is not None
        }
        if self.wanted_variant is None:
            return readable
        return {name: variant for name, variant in readable.items() if name == self.wanted_variant}

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats it lists."""
        return tuple(str(each) for each in as_list(self.document.get("formats")))

    @property
    def plainest(self) -> str:
        """The listed format that is nearest to samples; `wav` where none is listed."""
        listed = (each for each in ("pcm", "wav") if each in self.formats)
        return next(listed, next(iter(self.formats), "wav"))

    @property
    def sampled(self) -> str:
        """The format to ask for where samples are to be looked at.

        Raises:
            Finding: It lists formats, and none that is samples.
        """
        if self.plainest not in {"pcm", "wav"}:
            raise undecided("neither wav nor pcm is among its formats; see d.defaults.format")
        return self.plainest

    @property
    def in_a_format(self) -> dict[str, object]:
        """The field that asks for a format that it lists; none where that is the default."""
        return {} if self.plainest == "wav" or "wav" in self.formats else {"format": self.plainest}

    @property
    def voices(self) -> list[str]:
        """The ids of the voices it lists."""
        listed = [as_object(voice).get("id") for voice in as_list(self.first.voices.json)]
        return [voice for voice in listed if isinstance(voice, str)]

    @property
    def variant(self) -> str:
        """The variant that is asked where nothing else is said.

        Raises:
            Finding: The document has none that could be read.
        """
        for name in self.variants:
            return name
        raise undecided("no variant of the capability document can be read; see 4.variants.always")

    def variant_with(self, has: Callable[[Variant], object], what: str) -> tuple[str, Variant]:
        """Returns the first variant for which `has` says yes.

        Raises:
            Finding: There is none: skipped, naming `what`.
        """
        for name, variant in self.variants.items():
            if has(variant):
                return name, variant
        raise skipped(f"there is no {what}")

    def other_variant(self) -> str:
        """Returns a variant that is not the default.

        Raises:
            Finding: There is one variant, or only one may be looked at.
        """
        for name in list(self.variants)[1:]:
            return name
        raise skipped("there are no two variants to look at")

    # --- What it is asked -----------------------------------------------------------------------

    async def speak(self, **fields: object) -> Answer:
        """Asks for a short sentence, with `fields` over it; a field that is None is left out."""
        return await self.wire.post("/speak", self.request(fields))

    async def speak_raw(self, body: str) -> Answer:
        """Asks with a body as it is."""
        return await self.wire.send("POST", "/speak", body.encode(), "application/json")

    def request(self, fields: Mapping[str, object]) -> dict[str, object]:
        """Returns the body of a speak request: a sentence of the variant, with `fields` over it."""
        name = str(fields.get("variant") or self.variant)
        variant = self.variants.get(name) or self.variants[self.variant]
        text = self.texts.sentence(variant)
        body = {"text": text, "variant": name, **self.in_a_format, **fields}
        return {key: value for key, value in body.items() if value is not None}

    async def asked(self, **fields: object) -> Answer:
        """Returns the answer to a request, asking once for each that is the same."""
        body = json.dumps(self.request(fields), sort_keys=True)
        if body not in self.recordings:
            self.recordings[body] = await self.speak(**fields)
        return self.recordings[body]

    async def heard(self, **fields: object) -> Answer:
        """Returns the audio of a request, asking once for each that is the same.

        Raises:
            Finding: No audio came.
        """
        answer = await self.asked(**fields)
        expect(answer.is_audio, f"no audio was answered to {self.request(fields)}", answer)
        return answer

    async def sound(self, **fields: object) -> Sound:
        """Returns what a request sounds like, as samples.

        Raises:
            Finding: No samples came.
        """
        return as_sound(await self.heard(format=self.sampled, **fields))

    def wait_on(self) -> None:
        """Gives the check that runs as long again from now: something has come of it."""
        self.waiting.deadline = anyio.current_time() + self.patience.check_seconds

    async def claimed(self, variant: str, **fields: object) -> Answer:
        """Returns the answer to a request for what a variant claims, asking once for each.

        With a seed wherever that can make it comparable with another, so that one recording serves
        the check that a claim is accepted and the one that it is heard. A check may take as long
        again from each claim on: how many there are is the variant's to say.
        """
        self.wait_on()
        seed = await self.seed(variant)
        return await self.asked(variant=variant, format=self.plainest, seed=seed, **fields)

    async def seed(self, variant: str | None = None) -> int | None:
        """Returns the seed to ask with where it reproduces, None where it does not."""
        return SEED if await self.reproduces(variant) else None

    async def reproduces(self, variant: str | None = None) -> bool:
        """Whether the same request with the same seed sounds the same, tried once a variant.

        Args:
            variant: Which; None: the one that is asked where nothing else is said.
        """
        one, other = await self._two_takes(variant or self.variant)
        if not (one.is_audio and other.is_audio):
            return False
        if one.body == other.body or self.plainest not in {"pcm", "wav"}:
            return one.body == other.body
        return not is_different(as_sound(one), as_sound(other))

    async def stands_apart(self, sound: Sound, **fields: object) -> bool:
        """Whether a recording differs from takes of a request by more than they do.

        Looked at before a difference is held against a worker: where it takes no seed, two takes of
        another text may have been alike by chance.

        Raises:
            Finding: A take brought no samples.
        """
        takes: list[Sound] = []
        for _ in range(_TAKES):
            self.wait_on()
            answer = await self.speak(**{"seed": SEED, "format": self.sampled, **fields})
            expect(answer.is_audio, f"no audio was answered to {self.request(fields)}", answer)
            takes.append(as_sound(answer))
        among = max(difference(one, other) for one, other in combinations(takes, 2))
        return min(difference(sound, take) for take in takes) > max(1, 2 * among)

    async def repeats(self) -> bool:
        """Whether they are the same to the last byte, which a little dither prevents."""
        one, other = await self._two_takes(self.variant)
        return one.is_audio and other.is_audio and one.body == other.body

    async def _two_takes(self, variant: str) -> tuple[Answer, Answer]:
        async def ask() -> tuple[Answer, Answer]:
            fields = {"variant": variant, "format": self.plainest, "seed": SEED}
            return await self.asked(**fields), await self.speak(**fields)

        return await self.once(f"two takes of {variant}", ask)

    async def unload(self) -> Answer:
        """Frees the model."""
        return await self.wire.post("/unload")

    async def load(self, variant: str) -> Answer:
        """Loads a variant; the check that does may take as long again for it, and after it."""
        self.wait_on()
        answer = await self.wire.post("/load", {"variant": variant})
        self.wait_on()
        return answer

    async def health(self) -> dict[str, Any]:
        """Returns its health, raw."""
        return (await self.wire.get("/health")).object

    async def once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """Returns what `make` made the first time it was asked for under `key`.

        Raises:
            Finding: It came to a finding then; every later caller gets that one.
        """
        if key not in self._known:
            try:
                self._known[key] = await make()
            except Finding as finding:
                self._known[key] = finding
        known = self._known[key]
        if isinstance(known, Finding):
            raise known
        return cast("T", known)

    def started(self, **fields: Any) -> AbstractAsyncContextManager[Spawned]:
        """Starts one more worker for a block.

        Raises:
            Finding: This tool did not start the first one either.
        """
        if self.spawn is None:
            raise skipped("the worker was reached by its address; give a command after -- instead")
        return self.spawn(**fields)

    def wire_to(self, address: Address) -> Wire:
        """Returns a new wire to another worker; the caller closes it."""
        return Wire(address, answers=self.wire.answers)


def _variant(fields: object) -> Variant | None:
    try:
        return read_shape(Variant, json.dumps(fields))
    except ValueError:
        return None
