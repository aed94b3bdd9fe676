"""A card without engines: models that come and go in memory, and visitors who speak with them."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field

import anyio
import anyio.abc
from rhapsode.residency.manager import ResidencyManager
from rhapsode.settings.model import ResidencySettings
from rhapsode_contract import ModelUnavailable, ResidentModel

END_SECONDS = 1.0
"""What the end of a process takes."""

LONGEST_SECONDS = 100_000.0
"""No test takes longer, on a clock that jumps."""


@dataclass
class MemoryModels:
    """Every engine's model: `Models` as the fleet of workers is to the manager."""

    note: Callable[[str], None]
    loaded: dict[str, str] = field(default_factory=dict[str, str])
    """Variant by engine."""
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    stranded: set[str] = field(default_factory=set[str])
    """Engines whose process is up after a load that failed."""
    deaf: set[str] = field(default_factory=set[str])
    """Engines that cannot be told to end."""
    unheard: set[str] = field(default_factory=set[str])
    """Those that were to end meanwhile, and were not met again since."""
    end_seconds: float = END_SECONDS
    gone: Callable[[str], None] = lambda engine: None
    """Told that a process has ended, whoever ended it."""

    def is_loaded(self, engine: str) -> bool:
        return engine in self.loaded

    def is_stranded(self, engine: str) -> bool:
        return engine in self.stranded

    def is_unheard(self, engine: str) -> bool:
        return engine in self.unheard

    def size_bytes(self, engine: str) -> int | None:
        return self.sizes.get(engine)

    async def end(self, engine: str) -> None:
        await self._go(engine, "end")
        self.gone(engine)

    async def unload(self, engine: str) -> None:
        await self._go(engine, "unload")

    async def _go(self, engine: str, how: str) -> None:
        self.note(f"{how} {engine}")
        await anyio.sleep(self.end_seconds)
        if engine in self.deaf:
            self.unheard.add(engine)
            raise ModelUnavailable("it did not hear")
        self.loaded.pop(engine, None)
        self.stranded.discard(engine)
        self.note(f"{engine} gone")

    def lose(self, engine: str) -> None:
        """Finds that nobody is there any more of one that could not be told."""
        self.unheard.discard(engine)
        self.crash(engine)

    def crash(self, engine: str) -> None:
        """Loses a process and its model."""
        self.loaded.pop(engine, None)
        self.gone(engine)


class Card:
    """A manager over those models, and a diary of what happens when."""

    def __init__(
        self,
        tasks: anyio.abc.TaskGroup,
        settings: ResidencySettings,
        keep_alives: dict[str, int],
    ) -> None:
        self.settings = settings
        self.keep_alives = keep_alives
        self.diary: list[tuple[float, str]] = []
        """What happened, each with the seconds since the start."""
        self.evicted: list[tuple[str, str]] = []
        """Engine and reason of each model that was told to go."""
        self.models = MemoryModels(self.note)
        self.manager = ResidencyManager(
            self.models,
            settings=lambda: self.settings,
            keep_alive_of=self.keep_alives.get,
            tasks=tasks,
            observe=lambda engine, reason: self.evicted.append((engine, reason)),
        )
        self.models.gone = self.manager.note_gone
        self._tasks = tasks
        self._start = anyio.current_time()

    def note(self, event: str) -> None:
        self.diary.append((round(anyio.current_time() - self._start, 3), event))

    @property
    def events(self) -> list[str]:
        """What happened, in order."""
        return [event for _, event in self.diary]

    def when(self, event: str) -> float:
        """Returns when something happened for the first time."""
        return next(at for at, one in self.diary if one == event)

    async def until(self, seconds: float) -> None:
        """Waits for a time since the start."""
        await anyio.sleep_until(self._start + seconds)

    async def visit(
        self,
        name: str,
        seconds: float = 1.0,
        *,
        variant: str = "one",
        keep_alive: int | None = None,
    ) -> None:
        """Speaks with the engine that a visitor's name begins with."""
        async with self.manager.lease(name[0], variant, keep_alive):
            self.note(f"{name} speaks")
            self.models.loaded[name[0]] = variant
            await anyio.sleep(seconds)
            self.note(f"{name} stops")

    def send(
        self,
        name: str,
        seconds: float = 1.0,
        *,
        variant: str = "one",
        keep_alive: int | None = None,
    ) -> anyio.CancelScope:
        """Starts a visit; returns what makes the visitor leave. An error ends the test."""
        scope = anyio.CancelScope()

        async def visit() -> None:
            with scope:
                await self.visit(name, seconds, variant=variant, keep_alive=keep_alive)

        self._tasks.start_soon(visit)
        return scope

    def go_down(self) -> None:
        """Ends everything, as a core does at its own end; the block around is left too."""
        self._tasks.cancel_scope.cancel()

    def meet(self, engine: str) -> None:
        """Meets again one that could not be told: it has its model still."""
        self.models.unheard.discard(engine)
        self.manager.note_found(engine, self.models.loaded[engine])

    def change(self, **settings: object) -> None:
        """Changes settings while the server runs."""
        changed = self.settings.model_dump() | settings
        self.settings = ResidencySettings.model_validate(changed)
        self.manager.note_settings()

    @property
    def only(self) -> ResidentModel:
        """The one model on the card, as an operator sees it."""
        (model,) = self.manager.report().models
        return model

    @property
    def is_bare(self) -> bool:
        """Whether nobody waits, and nothing is or will be on the card."""
        return self.manager.report().model_dump() == {
            "resident": 0,
            "max": self.settings.max_resident_models,
            "waiting": 0,
            "blocked_by": None,
            "models": (),
        }


@asynccontextmanager
async def open_card(
    *,
    most: int = 1,
    keep_alive: int = -1,
    wait: float = 30.0,
    keep_alives: dict[str, int] | None = None,
) -> AsyncGenerator[Card]:
    """Gives a card for the length of a block; whoever still speaks then is waited for."""
    settings = ResidencySettings(
        max_resident_models=most, keep_alive_seconds=keep_alive, eviction_wait_seconds=wait
    )
    with anyio.fail_after(LONGEST_SECONDS):
        async with anyio.create_task_group() as tasks:
            card = Card(tasks, settings, keep_alives or {})
            with closing(card.manager):
                yield card
