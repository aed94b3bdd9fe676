"""What a worker process has in it before an adapter puts anything there."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "torch", "soundfile", "lameenc", "soxr", "scipy", "onnxruntime")


@pytest.mark.contract("8.torch.none")
def test_the_sdk_imports_no_array_library_no_codec_and_no_framework() -> None:
    script = (
        "import sys, rhapsode_worker\n"
        "for name in rhapsode_worker.__all__: getattr(rhapsode_worker, name)\n"
        f"print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == []


def test_every_public_name_is_there_and_no_other() -> None:
    import rhapsode_worker

    for name in rhapsode_worker.__all__:
        assert getattr(rhapsode_worker, name) is not None
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = rhapsode_worker.nonesuch  # type: ignore[attr-defined]  # wrong on purpose


def test_importing_the_package_alone_imports_nothing_of_it() -> None:
    # The encoder child starts through it.
    script = "import sys, rhapsode_worker; print('rhapsode_contract' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "False"


def test_the_shape_that_threads_read_is_built_before_any_of_them_runs() -> None:
    script = (
        "from rhapsode_worker.voicing.record import Record; print(Record.__pydantic_complete__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "True"
