"""The variables of what an install runs."""

from pathlib import Path

import pytest
from rhapsode.installs.environment import (
    TRUSTED_HOSTS,
    install_environment,
    trusted_hosts,
    verify_environment,
)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "LANG", "TMPDIR", "https_proxy", "HTTPS_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "PIP_INDEX_URL", "PIP_CERT", "PIP_FIND_LINKS", "UV_DEFAULT_INDEX"),
        *("UV_CACHE_DIR", "UV_NATIVE_TLS", "CC", "CFLAGS", "CMAKE_ARGS", "CUDA_HOME", "NETRC"),
    ],
)
def test_what_says_where_packages_come_from_and_how_they_are_built_passes(name: str) -> None:
    assert install_environment({name: "x"})[name] == "x"


@pytest.mark.contract("10.building.environment")
@pytest.mark.parametrize(
    "name",
    [
        *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "VIRTUAL_ENV"),
        *("CONDA_PREFIX", "__PYVENV_LAUNCHER__", "PIP_TARGET", "PIP_USER", "PIP_PREFIX"),
        *("UV_SYSTEM_PYTHON", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT", "UV_NO_VERIFY_HASHES"),
        *("RHAPSODE_CONFIG", "RHAPSODE_WORKER_TOKEN", "AWS_SECRET_ACCESS_KEY", "SECRET"),
    ],
)
def test_what_would_mix_another_python_in_or_is_no_concern_of_it_does_not(name: str) -> None:
    assert name not in install_environment({name: "x"})


def test_nothing_asks_or_draws_whatever_the_core_was_started_with() -> None:
    variables = install_environment({"PIP_NO_INPUT": "0", "PIP_PROGRESS_BAR": "on"})
    assert variables["PIP_NO_INPUT"] == "1"
    assert variables["PIP_PROGRESS_BAR"] == "off"
    assert variables["UV_NO_PROGRESS"] == "1"


def test_uv_trusts_what_the_machine_trusts_unless_told() -> None:
    assert install_environment({})["UV_SYSTEM_CERTS"] == "1"
    assert install_environment({"UV_SYSTEM_CERTS": "0"})["UV_SYSTEM_CERTS"] == "0"


def test_uv_hears_where_pip_takes_packages_from_unless_it_is_told_itself() -> None:
    made = install_environment({"PIP_INDEX_URL": "a", "PIP_FIND_LINKS": "b c", "PIP_CERT": "d"})
    assert made["UV_DEFAULT_INDEX"] == "a"
    assert made["UV_FIND_LINKS"] == "b,c"
    assert made["SSL_CERT_FILE"] == "d"
    told = {"PIP_INDEX_URL": "a", "UV_DEFAULT_INDEX": "e"}
    assert install_environment(told)["UV_DEFAULT_INDEX"] == "e"


def test_an_engine_is_imported_as_a_worker_that_is_not_to_serve() -> None:
    parent = {"PATH": "/bin", "PYTHONPATH": "/x", "HF_HOME": "/h", "RHAPSODE_CONFIG": "c"}
    variables = verify_environment(parent, Path("/v"))
    assert variables["PATH"] == "/v/bin:/bin"
    assert variables["HF_HOME"] == "/h"
    assert not [name for name in variables if name.startswith(("RHAPSODE_", "PYTHON"))]


@pytest.mark.parametrize(
    ("said", "hosts"),
    [
        (None, ()),
        ("", ()),
        (" , ", ()),
        ("a.example", ("a.example",)),
        ("a.example b.example:8443", ("a.example", "b.example:8443")),
        ("a.example, b.example,\tc", ("a.example", "b.example", "c")),
    ],
)
def test_trusted_hosts_are_split_at_commas_and_blanks(
    said: str | None, hosts: tuple[str, ...]
) -> None:
    assert trusted_hosts({} if said is None else {TRUSTED_HOSTS: said}) == hosts
