"""What a model takes of a card, measured across its load through the driver's own library."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from rhapsode_worker.devices import Device
from rhapsode_worker.engine import Engine
from rhapsode_worker.memory import believable, empty_caches, used_bytes_of, whole_bytes
from rhapsode_worker.model import Model

from .worker_serving.player import Player

GIB = 1 << 30
CARD = Device("cuda", "a card", index=1)


class Driver(ModuleType):
    """NVIDIA's library as the `pynvml` module shows it; fails where told."""

    def __init__(self) -> None:
        super().__init__("pynvml")
        self.used = GIB
        self.is_there = True
        self.can_read = True

    def nvmlInit(self) -> None:
        if not self.is_there:
            raise RuntimeError("NVML: driver not loaded")

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetMemoryInfo(self, card: int) -> SimpleNamespace:
        assert card == CARD.index
        if not self.can_read:
            raise RuntimeError("NVML: the card fell off the bus")
        return SimpleNamespace(used=self.used)


class Holder(Player):
    """Takes of the card as much as it is told; may know how much."""

    def __init__(self, driver: Driver, takes: int, known: int | None | Exception = None) -> None:
        super().__init__()
        self._driver = driver
        self._known = known
        self.on_load = lambda _: self._take(takes)

    def memory_bytes(self) -> int | None:
        if isinstance(self._known, Exception):
            raise self._known
        return self._known

    def _take(self, count: int) -> None:
        self._driver.used += count


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    driver = Driver()
    monkeypatch.setitem(sys.modules, "pynvml", driver)
    return driver


def loaded(engine: Engine) -> Model:
    model = Model(engine, used_bytes_of(CARD))
    model.ensure("plain")
    return model


@pytest.mark.contract("3.health.vram", "3.health.model-bytes")
def test_a_load_is_measured_and_the_size_stays_until_the_model_goes(driver: Driver) -> None:
    model = loaded(Holder(driver, 3 * GIB))
    assert (model.size_bytes, model.used_bytes) == (3 * GIB, 4 * GIB)
    driver.used += GIB  # somebody else's
    assert (model.size_bytes, model.used_bytes) == (3 * GIB, 5 * GIB)
    model.unload()
    assert model.size_bytes is None
    assert model.used_bytes == 5 * GIB


@pytest.mark.contract("3.health.memory-override")
def test_an_adapter_that_knows_better_is_believed(driver: Driver) -> None:
    assert loaded(Holder(driver, 3 * GIB, known=2 * GIB)).size_bytes == 2 * GIB


@pytest.mark.parametrize("known", [0, -1, None, RuntimeError("no idea")], ids=repr)
def test_an_adapter_that_knows_nothing_sensible_is_measured(
    driver: Driver, known: int | None | Exception
) -> None:
    assert loaded(Holder(driver, GIB, known=known)).size_bytes == GIB


@pytest.mark.parametrize("takes", [0, -GIB // 2])
@pytest.mark.contract("3.health.model-bytes-honest")
def test_a_model_that_took_nothing_was_not_measured(driver: Driver, takes: int) -> None:
    assert loaded(Holder(driver, takes)).size_bytes is None


@pytest.mark.contract("3.health.vram", "3.health.model-bytes-honest")
def test_where_nothing_can_be_read_nothing_is_said(driver: Driver) -> None:
    driver.can_read = False
    model = loaded(Holder(driver, GIB))
    assert (model.size_bytes, model.used_bytes) == (None, None)
    driver.is_there = False
    assert used_bytes_of(CARD)() is None
    assert used_bytes_of(Device("cpu", "a processor"))() is None


@pytest.mark.parametrize(("measured", "said"), [(1, 1), (0, None), (-1, None), (None, None)])
def test_only_a_size_is_one(measured: int | None, said: int | None) -> None:
    assert believable(measured) == said


def test_caches_are_emptied_where_a_framework_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    emptied: list[str] = []

    def fail() -> None:
        raise RuntimeError("half there")

    torch = SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: True, empty_cache=fail),
        mps=SimpleNamespace(is_available=lambda: False, empty_cache=lambda: emptied.append("mps")),
        xpu=SimpleNamespace(is_available=lambda: True, empty_cache=lambda: emptied.append("xpu")),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    empty_caches()
    assert emptied == ["xpu"]


@pytest.mark.parametrize(("told", "size"), [(None, None), (3, 3), (3e9, 3_000_000_000)])
def test_what_an_adapter_tells_of_its_memory_is_whole_bytes(
    told: float | None, size: int | None
) -> None:
    assert whole_bytes(told) == size


@pytest.mark.parametrize("told", [1.5, "3", True, float("nan")])
def test_what_is_no_number_of_bytes_is_no_size(told: object) -> None:
    with pytest.raises(TypeError, match="memory_bytes"):
        whole_bytes(told)
