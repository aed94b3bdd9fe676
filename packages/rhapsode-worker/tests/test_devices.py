"""Finding a device: whatever the driver says, there is always the processor."""

import platform
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from rhapsode_worker.devices import Device, detect


class Driver:
    """NVIDIA's library as the `pynvml` module shows it, one part of it failing where told."""

    def __init__(self, failing: str = "") -> None:
        self._failing = failing

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == self._failing:
            raise RuntimeError("NVML: no such thing")
        answers: dict[str, Any] = {
            "nvmlDeviceGetName": "NVIDIA Test 9000",
            "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=24 * 2**30),
        }

        def answer(*_: object) -> Any:
            return answers.get(name)

        return answer


@pytest.mark.contract("8.device.cpu")
def test_an_engine_of_the_processor_gets_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Driver())
    device = detect(["cpu"])
    assert (device.type, device.vram_bytes) == ("cpu", None)
    assert device.name
    assert (str(device), device.torch()) == ("cpu", "cpu")


def test_an_nvidia_card_comes_first_where_the_engine_can_use_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Driver())
    device = detect(["cpu", "cuda"])
    assert device == Device("cuda", "NVIDIA Test 9000", vram_bytes=24 * 2**30)
    assert (str(device), device.torch()) == ("cuda:0", "cuda")


@pytest.mark.parametrize(
    "failing",
    ["nvmlInit", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetName", "nvmlDeviceGetMemoryInfo"],
)
def test_a_driver_that_cannot_answer_leaves_the_processor(
    failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Driver(failing))
    assert detect(["cuda", "cpu"]).type == "cpu"


def test_no_driver_at_all_leaves_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert detect(["cuda", "cpu"]).type == "cpu"


def test_metal_is_found_on_apples_own_processors_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert detect(["mps", "cpu"]).torch() == "mps"
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert detect(["mps", "cpu"]).type == "cpu"


def test_torch_calls_a_rocm_card_cuda() -> None:
    assert Device("rocm", "MI300").torch() == "cuda"
    assert str(Device("rocm", "MI300", index=1)) == "rocm:1"
