"""Whatever happens, in whichever order: random histories on a clock that jumps.

Requests, their ends, clients who leave, failed loads, crashes, expiries, changed settings and an
operator who frees, against rules that are checked after every step.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import anyio
import anyio.abc
from hypothesis import given, settings
from hypothesis import strategies as st
from rhapsode.residency.held import Reason
from rhapsode.residency.manager import ResidencyManager
from rhapsode.residency.models import Mode
from rhapsode.settings.model import ResidencySettings
from rhapsode_contract import Conflict, ModelUnavailable

from .virtual_clock import run

ENGINES = ("a", "b", "c", "d")
LONGEST_HISTORY_SECONDS = 20_000.0
"""Every request of a history can speak one after the other in less."""


@dataclass(frozen=True)
class Ask:
    """A client comes."""

    engine: str
    variant: str
    load_seconds: float
    speak_seconds: float
    does_load: bool
    keep_alive: int | None
    leaves_after: float | None


@dataclass(frozen=True)
class Crash:
    """A process dies."""

    engine: str


@dataclass(frozen=True)
class Free:
    """An operator wants the memory back, and may not wait for it."""

    engine: str
    mode: Mode
    leaves_after: float | None


@dataclass(frozen=True)
class Change:
    """A setting is changed."""

    key: Literal["max_resident_models", "keep_alive_seconds"]
    value: int


@dataclass(frozen=True)
class Deafen:
    """A process cannot be told to end for a while; then it is met again, or found to be lost."""

    engine: str
    seconds: float
    is_lost: bool


Event = Ask | Crash | Free | Change | Deafen

Step = tuple[float, Event]
"""What happens, and how long after the step before."""


class Dead(Exception):
    """A model is not loaded, or its process has died."""


@dataclass(eq=False)
class Visit:
    """A request, as its client sees it."""

    asked: Ask
    came: float
    was_granted: bool = False
    ended: Literal["spoke", "died", "refused", "shut out", "left"] | None = None


@dataclass
class Rules:
    """What has to hold, seen from outside of the manager."""

    manager: ResidencyManager
    most: Callable[[], int]
    speaking: Counter[str] = field(default_factory=Counter[str])
    """Leases of visitors by engine."""
    used: dict[str, float] = field(default_factory=dict[str, float])
    """When each engine was last in use."""
    going: set[str] = field(default_factory=set[str])
    """Engines whose process or model is on its way out."""
    unheard: set[str] = field(default_factory=set[str])
    """Engines that were to go, could not be told, and were not met again since."""
    resident: int = 0
    """Models at the last look."""

    def check(self) -> None:
        """Checks what holds at any moment."""
        brief = self.manager.summary()
        # More than allowed only where the limit was lowered, and then never still more.
        assert brief.resident <= max(self.most(), self.resident)
        self.resident = brief.resident
        assert (brief.blocked_by is not None) is (brief.waiting > 0)

    def check_at_rest(self, visits: Sequence["Visit"]) -> None:
        """Checks what holds once nobody has anything left to do at this moment."""
        self.check()
        leases = {model.engine: model.leases for model in self.manager.report().models}
        assert {engine: n for engine, n in leases.items() if n} == +self.speaking
        assert self.unheard <= leases.keys()
        waiting = [visit for visit in visits if not (visit.was_granted or visit.ended)]
        assert self.manager.summary().waiting == len(waiting)
        # First come, first served, among those who want one engine.
        for engine in {visit.asked.engine for visit in waiting}:
            theirs = [visit for visit in visits if visit.asked.engine == engine]
            first = min(theirs.index(visit) for visit in waiting if visit in theirs)
            assert not any(visit.was_granted for visit in theirs[first:])

    def check_victim(self, engine: str, reason: Reason) -> None:
        """Checks the choice of a model that is told to go."""
        assert not self.speaking[engine]
        idle = {
            # The report's dates are of another clock, which tells apart what happens at once here.
            model.engine: self.used[model.engine]
            for model in self.manager.report().models
            if not model.leases and model.engine not in self.going | self.unheard
        }
        if reason == "room":
            assert idle[engine] == min(idle.values())
        self.going.add(engine)


class History:
    """A card, its visitors and what becomes of them."""

    def __init__(self, tasks: anyio.abc.TaskGroup, begin: ResidencySettings) -> None:
        self.settings = begin
        self.keep_alives = {"b": 7}
        self.loaded: dict[str, Ask] = {}
        """By engine: the request whose load made the model, or is still making it."""
        self.stranded: set[str] = set()
        """Engines whose process has failed to load and is still up."""
        self.deaf: set[str] = set()
        """Engines that cannot be told to end."""
        self.visits: list[Visit] = []
        self._tasks = tasks
        self._lives: defaultdict[str, list[anyio.CancelScope]] = defaultdict(list)
        self.manager = ResidencyManager(
            self,
            settings=lambda: self.settings,
            keep_alive_of=self.keep_alives.get,
            tasks=tasks,
            observe=lambda engine, reason: self.rules.check_victim(engine, reason),
        )
        self.rules = Rules(self.manager, lambda: self.settings.max_resident_models)

    # What the manager asks.

    def is_loaded(self, engine: str) -> bool:
        return engine in self.loaded

    def is_stranded(self, engine: str) -> bool:
        return engine in self.stranded

    def is_unheard(self, engine: str) -> bool:
        return engine in self.rules.unheard

    def size_bytes(self, engine: str) -> int | None:
        return None

    async def end(self, engine: str) -> None:
        await self._go(engine)
        self.manager.note_gone(engine)

    async def unload(self, engine: str) -> None:
        await self._go(engine)

    async def _go(self, engine: str) -> None:
        assert not self.rules.speaking[engine]
        self.rules.going.add(engine)
        await anyio.sleep(2)
        assert not self.rules.speaking[engine]
        self.rules.going.discard(engine)
        if engine in self.deaf:
            if engine in self.loaded:
                self.rules.unheard.add(engine)
            raise ModelUnavailable("it did not hear")
        self.loaded.pop(engine, None)
        self.stranded.discard(engine)

    # What happens to it.

    def do(self, event: Event) -> None:
        match event:
            case Ask():
                visit = Visit(event, anyio.current_time())
                self.visits.append(visit)
                self._tasks.start_soon(self._visit, visit)
            case Crash(engine):
                self._lose(engine)
            case Deafen():
                self._tasks.start_soon(self._deafen, event)
            case Free():
                self._tasks.start_soon(self._free, event)
            case Change(key, value):
                self.rules.check()
                self.settings = self.settings.model_copy(update={key: value})
                self.manager.note_settings()

    def _lose(self, engine: str) -> None:
        self.loaded.pop(engine, None)
        self.stranded.discard(engine)
        self.rules.unheard.discard(engine)
        for life in self._lives.pop(engine, []):
            life.cancel()
        self.manager.note_gone(engine)

    async def _deafen(self, event: Deafen) -> None:
        engine = event.engine
        self.deaf.add(engine)
        await anyio.sleep(event.seconds)
        self.deaf.discard(engine)
        if engine in self.rules.unheard:
            if event.is_lost:
                self._lose(engine)
            else:
                self._meet(engine)

    def _meet(self, engine: str) -> None:
        """Takes up with a process again that could not be told."""
        self.rules.unheard.discard(engine)
        if (there := self.loaded.get(engine)) is None:
            self.manager.note_gone(engine)
            return
        self.rules.used[engine] = anyio.current_time()
        self.manager.note_found(engine, there.variant)

    async def _free(self, asked: Free) -> None:
        with anyio.move_on_after(asked.leaves_after or LONGEST_HISTORY_SECONDS):
            try:
                await self.manager.free(asked.engine, asked.mode)
            except Conflict:
                leases = {model.engine: model.leases for model in self.manager.report().models}
                assert leases[asked.engine]
            except ModelUnavailable as error:
                assert error.message == "it did not hear"

    async def _visit(self, visit: Visit) -> None:
        asked = visit.asked
        with anyio.move_on_after(asked.leaves_after or LONGEST_HISTORY_SECONDS):
            try:
                async with self.manager.lease(asked.engine, asked.variant, asked.keep_alive):
                    visit.was_granted = True
                    assert asked.engine not in self.rules.going
                    self.rules.check()
                    await self._use(asked)
                visit.ended = "spoke"
            except Dead:
                visit.ended = "died"
            except ModelUnavailable as error:
                visit.ended = "shut out" if "could not be told" in error.message else "refused"
                waited = anyio.current_time() - visit.came
                has_waited = waited > self.settings.eviction_wait_seconds - 0.001
                assert has_waited or visit.ended == "shut out"
        visit.ended = visit.ended or "left"
        self.rules.check()

    async def _use(self, asked: Ask) -> None:
        """Loads the model where it is not there, and speaks."""
        engine = asked.engine
        if engine in self.rules.unheard:
            self._meet(engine)
        self.rules.speaking[engine] += 1
        self.rules.used[engine] = anyio.current_time()
        try:
            with anyio.CancelScope() as life:
                self._lives[engine].append(life)
                await self._load(asked)
                await anyio.sleep(asked.speak_seconds)
            if life.cancel_called:
                raise Dead
        finally:
            self.rules.speaking[engine] -= 1
            self.rules.used[engine] = anyio.current_time()

    async def _load(self, asked: Ask) -> None:
        there = self.loaded.get(asked.engine)
        if there is not None and there.variant == asked.variant:
            return
        assert there is None or self.rules.speaking[asked.engine] == 1
        self.loaded[asked.engine] = asked
        self.stranded.discard(asked.engine)
        is_over = anyio.Event()
        self._tasks.start_soon(self._go_on_loading, asked, is_over)
        await is_over.wait()
        if not asked.does_load:
            raise Dead

    async def _go_on_loading(self, asked: Ask, is_over: anyio.Event) -> None:
        """Loads, though whoever asked for it may leave."""
        await anyio.sleep(asked.load_seconds)
        if not asked.does_load and self.loaded.get(asked.engine) is asked:
            del self.loaded[asked.engine]
            self.stranded.add(asked.engine)
            self.manager.note_gone(asked.engine)
        is_over.set()

    # Its end.

    async def finish(self) -> None:
        """Waits for everybody, and checks that nothing is left."""
        while not all(visit.ended for visit in self.visits):
            await anyio.sleep(1.001)
            self.rules.check_at_rest(self.visits)
        await anyio.sleep(1000)  # every keep-alive that runs out has run out
        assert all(model.keep_alive_seconds == -1 for model in self.manager.report().models)
        for engine in ENGINES:
            await self.manager.free(engine, "terminate")
        assert not (self.manager.report().models or self.manager.summary().waiting)
        assert not (self.loaded or self.stranded or self.rules.going or +self.rules.speaking)


def steps() -> st.SearchStrategy[Step]:
    engine = st.sampled_from(ENGINES)
    leaves_after = st.none() | st.sampled_from((0.25, 1.0, 4.0))
    keep_alive = st.sampled_from((-1, 0, 3, 30))
    ask = st.builds(
        Ask,
        engine=engine,
        variant=st.sampled_from(("one", "one", "two")),
        load_seconds=st.sampled_from((0.0, 0.5, 3.0)),
        speak_seconds=st.sampled_from((0.0, 1.0, 10.0)),
        does_load=st.sampled_from((True, True, True, False)),
        keep_alive=st.none() | keep_alive,
        leaves_after=leaves_after,
    )
    event = st.one_of(
        ask,
        ask,
        ask,
        st.builds(Crash, engine),
        st.builds(Deafen, engine, st.sampled_from((1.0, 5.0, 30.0)), st.booleans()),
        st.builds(Free, engine, st.sampled_from(("terminate", "unload")), leaves_after),
        st.builds(Change, st.just("max_resident_models"), st.integers(1, 3)),
        st.builds(Change, st.just("keep_alive_seconds"), keep_alive),
    )
    return st.tuples(st.sampled_from((0.0, 0.0, 0.5, 2.0, 10.0)), event)


async def play(history: Sequence[Step], most: int, patience: float) -> None:
    """Lets a history happen, and checks after every step."""
    begin = ResidencySettings(
        max_resident_models=most, keep_alive_seconds=20, eviction_wait_seconds=patience
    )
    with anyio.fail_after(LONGEST_HISTORY_SECONDS):
        async with anyio.create_task_group() as tasks:
            card = History(tasks, begin)
            for pause, event in history:
                if pause:
                    # The clock gets there, and past it, only when all have done what they can.
                    await anyio.sleep(pause)
                    await anyio.sleep(0.001)
                    card.rules.check_at_rest(card.visits)
                card.do(event)
            await card.finish()
            if patience >= LONGEST_HISTORY_SECONDS:
                assert all(visit.ended != "refused" for visit in card.visits)


@settings(deadline=None, max_examples=150)
@given(
    history=st.lists(steps(), max_size=50),
    most=st.integers(1, 3),
    patience=st.sampled_from((0.0, 5.0, LONGEST_HISTORY_SECONDS)),
)
def test_whatever_happens_the_card_is_never_overfull_and_everybody_is_answered(
    history: list[Step], most: int, patience: float
) -> None:
    run(play, history, most, patience)
