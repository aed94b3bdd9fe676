"""The resident model: its table, and what a load that fails leaves behind."""

import logging
import weakref
from collections.abc import Iterator
from itertools import product

import pytest
from rhapsode_contract import ErrorCode, RhapsodeError, Voice
from rhapsode_worker.engine import Engine
from rhapsode_worker.model import (
    TRANSITIONS,
    IllegalTransition,
    Model,
    ModelEvent,
    ModelState,
    advance,
)
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.variant import Variant


class Weights:
    """What fills a card."""


class Loader(Engine):
    """Loads nothing, notes every call, and fails as it is told."""

    id = "loader"
    display_name = "Loader"
    native_format = NativeFormat()

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.load_failures: list[BaseException] = []
        self.unload_failures: list[BaseException] = []
        self.model: Weights | None = None
        self.stranded: list[weakref.ref[Weights]] = []
        self.stranded_at_retry: list[Weights | None] = []

    def variants(self) -> dict[str, Variant]:
        return {"small": Variant(), "large": Variant()}

    def load(self, variant: str) -> None:
        self.calls.append(f"load {variant} as {self.variant}")
        self.stranded_at_retry += [stranded() for stranded in self.stranded]
        weights = Weights()
        self.stranded = [weakref.ref(weights)]
        if self.load_failures:
            raise self.load_failures.pop(0)
        self.model = weights

    def unload(self) -> None:
        self.calls.append(f"unload {self.variant}")
        if self.unload_failures:
            raise self.unload_failures.pop(0)
        self.model = None

    def voices(self) -> list[Voice]:
        return []

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        raise NotImplementedError


@pytest.fixture
def engine() -> Loader:
    return Loader()


@pytest.fixture
def model(engine: Loader) -> Model:
    return Model(engine)


@pytest.mark.parametrize(("state", "event"), list(product(ModelState, ModelEvent)))
def test_only_what_the_table_lists_can_happen(state: ModelState, event: ModelEvent) -> None:
    if (state, event) in TRANSITIONS:
        assert advance(state, event) is TRANSITIONS[state, event]
    else:
        with pytest.raises(IllegalTransition, match=rf"{event.value}.*{state.value}"):
            advance(state, event)


def test_every_state_can_be_reached_and_left() -> None:
    reached = {ModelState.UNLOADED}
    while new := {to for (came, _), to in TRANSITIONS.items() if came in reached} - reached:
        reached |= new
    assert reached == set(ModelState)
    assert {came for came, _ in TRANSITIONS} == set(ModelState)


def test_a_model_is_loaded_when_it_is_needed_and_only_once(model: Model, engine: Loader) -> None:
    assert (model.state, model.resident, model.variant) == (ModelState.UNLOADED, None, None)
    model.ensure("small")
    model.ensure("small")
    assert engine.calls == ["load small as small"]
    assert (model.state, model.resident, model.variant) == (ModelState.LOADED, "small", "small")


@pytest.mark.contract("d.variant.switch")
def test_a_switch_is_an_unload_and_a_load(model: Model, engine: Loader) -> None:
    model.ensure("small")
    model.ensure("large")
    assert engine.calls == ["load small as small", "unload small", "load large as large"]
    assert model.resident == "large"


@pytest.mark.contract("3.unload.idempotent")
def test_an_unload_with_nothing_resident_calls_nobody(model: Model, engine: Loader) -> None:
    model.unload()
    assert engine.calls == []
    model.ensure("small")
    model.unload()
    model.unload()
    assert engine.calls == ["load small as small", "unload small"]
    assert (model.state, engine.variant) == (ModelState.UNLOADED, None)


@pytest.mark.contract("3.load.retry-once")
def test_a_load_that_fails_is_unloaded_and_tried_once_more(model: Model, engine: Loader) -> None:
    engine.load_failures = [RuntimeError("CUDA out of memory")]
    model.ensure("small")
    assert engine.calls == ["load small as small", "unload small", "load small as small"]
    assert model.resident == "small"


@pytest.mark.contract("3.load.retry-once")
def test_a_load_that_fails_twice_is_cleared_away_and_not_tried_again(
    model: Model, engine: Loader
) -> None:
    engine.load_failures = [RuntimeError("first"), MemoryError("second"), RuntimeError("third")]
    with pytest.raises(RhapsodeError) as failure:
        model.ensure("small")
    assert failure.value.code is ErrorCode.OOM  # what the second said, not the first
    assert engine.calls == ["load small as small", "unload small"] * 2
    assert (model.state, model.resident, engine.variant) == (ModelState.UNLOADED, None, None)


def test_the_next_request_may_load_again_after_a_failure(model: Model, engine: Loader) -> None:
    engine.load_failures = [RuntimeError("first"), RuntimeError("second")]
    with pytest.raises(RhapsodeError):
        model.ensure("small")
    model.ensure("small")
    assert model.resident == "small"


def test_nothing_of_a_failed_load_is_alive_when_it_is_tried_again(
    model: Model, engine: Loader, monkeypatch: pytest.MonkeyPatch
) -> None:
    # pytest's own log handler keeps each record, and with it the traceback.
    monkeypatch.setattr(logging.getLogger("rhapsode_worker.model"), "propagate", False)
    engine.load_failures = [RuntimeError("the card is full")]
    model.ensure("small")
    assert engine.stranded_at_retry == [None]


@pytest.mark.parametrize("error", [AttributeError("model"), SystemExit(1)])
def test_an_unload_after_a_failed_load_may_fail_too(
    error: BaseException, model: Model, engine: Loader
) -> None:
    engine.load_failures = [RuntimeError("first")]
    engine.unload_failures = [error]
    model.ensure("small")
    assert model.resident == "small"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), ErrorCode.OOM),
        (ConnectionError("hub"), ErrorCode.MODEL_UNAVAILABLE),
        (ValueError("config"), ErrorCode.INTERNAL),
        (SystemExit(1), ErrorCode.INTERNAL),
        (KeyboardInterrupt(), ErrorCode.INTERNAL),
    ],
    ids=repr,
)
def test_the_cause_of_a_failed_load_decides_its_code(
    error: BaseException, code: ErrorCode, model: Model, engine: Loader
) -> None:
    engine.load_failures = [error, error]
    with pytest.raises(RhapsodeError) as failure:
        model.ensure("small")
    assert failure.value.code is code
    assert model.state is ModelState.UNLOADED


@pytest.mark.parametrize("error", [RuntimeError("stuck"), SystemExit(1)])
def test_a_failed_unload_is_told_and_leaves_the_model_unloaded(
    error: BaseException, model: Model, engine: Loader
) -> None:
    model.ensure("small")
    engine.unload_failures = [error]
    with pytest.raises(RhapsodeError) as failure:
        model.unload()
    assert failure.value.code is ErrorCode.INTERNAL
    assert model.state is ModelState.UNLOADED
    model.ensure("large")
    assert model.resident == "large"
