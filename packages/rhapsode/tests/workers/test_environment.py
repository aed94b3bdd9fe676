"""What a worker is started with."""

from pathlib import Path

import pytest
from rhapsode.workers.environment import cuda_variables, worker_environment

PASSED = [
    *("HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_DATA_HOME", "LD_LIBRARY_PATH"),
    *("https_proxy", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
    *("CUDA_VISIBLE_DEVICES", "HF_HOME", "OMP_NUM_THREADS", "PYTORCH_CUDA_ALLOC_CONF"),
    *("PIP_INDEX_URL", "UV_INDEX_URL", "NPM_CONFIG_REGISTRY"),
]
WITHHELD = [
    *("PYTHONPATH", "VIRTUAL_ENV", "LD_PRELOAD", "AWS_SECRET_ACCESS_KEY", "RHAPSODE_CONFIG"),
    *("SHELL", "SSH_AUTH_SOCK", "PATHOLOGICAL", "HOMEBREW"),
]


def built(
    parent: dict[str, str], extra: dict[str, str] | None = None, venv: Path | None = None
) -> dict[str, str]:
    return worker_environment(
        parent,
        engine="tone",
        listen="unix:/s/tone.sock",
        voice_dir=Path("/voices"),
        venv=venv,
        extra=extra or {},
    )


@pytest.mark.contract("d.life.environment")
def test_only_what_is_listed_passes_from_the_core_to_a_worker() -> None:
    environment = built(dict.fromkeys([*PASSED, *WITHHELD], "x"))
    assert set(PASSED) <= set(environment)
    assert not set(WITHHELD) & set(environment)


@pytest.mark.contract("2.spawn.environment", "9.offer.highest")
def test_a_worker_is_told_where_to_listen_who_it_is_and_what_the_core_speaks() -> None:
    assert built({}) == {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "RHAPSODE_WORKER_LISTEN": "unix:/s/tone.sock",
        "RHAPSODE_WORKER_ENGINE": "tone",
        "RHAPSODE_WORKER_CONTRACT": "1",
        "RHAPSODE_WORKER_LIFELINE": "stdin",
        "RHAPSODE_VOICE_DIR": "/voices/tone",
    }


def test_the_programs_of_the_virtualenv_come_first() -> None:
    venv = Path("/venvs/tone")
    assert built({"PATH": "/usr/bin"}, venv=venv)["PATH"] == "/venvs/tone/bin:/usr/bin"
    assert built({}, venv=venv)["PATH"] == "/venvs/tone/bin"
    assert built({"PATH": "/usr/bin"})["PATH"] == "/usr/bin"


def test_the_entrys_own_variables_win() -> None:
    environment = built({"LANG": "C"}, extra={"LANG": "de", "RHAPSODE_VOICE_DIR": "/mine"})
    assert (environment["LANG"], environment["RHAPSODE_VOICE_DIR"]) == ("de", "/mine")


@pytest.mark.parametrize(
    ("parent", "extra", "order"),
    [
        ({}, {}, "PCI_BUS_ID"),
        ({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}, {}, "FASTEST_FIRST"),
        ({"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, {"CUDA_DEVICE_ORDER": "x"}, "x"),
    ],
)
def test_cards_are_counted_as_the_driver_counts_them_unless_somebody_says_otherwise(
    parent: dict[str, str], extra: dict[str, str], order: str
) -> None:
    assert built(parent, extra)["CUDA_DEVICE_ORDER"] == order


def test_what_says_which_cards_a_worker_sees_is_what_it_is_started_with() -> None:
    parent = {"CUDA_VISIBLE_DEVICES": "1", "HOME": "/h", "CUDA_CACHE_PATH": "/c"}
    extra = {"CUDA_VISIBLE_DEVICES": "2", "KEY": "x"}
    environment = built(parent, extra)
    of_cuda = {name: text for name, text in environment.items() if name.startswith("CUDA_")}
    assert cuda_variables(parent, extra) == of_cuda
    assert of_cuda["CUDA_VISIBLE_DEVICES"] == "2"
