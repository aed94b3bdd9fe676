"""The variables of what an install runs: built from a list, as a worker's are."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rhapsode.workers.environment import worker_environment

TRUSTED_HOSTS: Final = "RHAPSODE_PIP_TRUSTED_HOSTS"
"""Hosts whose certificates are not checked, separated by commas or blanks."""

_BUILDING: Final = frozenset({"CC", "CXX", "CPP", "LD", "AR", "FC", "MAKEFLAGS", "NETRC"})
_BUILDING_PREFIXES: Final = (
    *("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CMAKE_", "SKBUILD_", "PKG_CONFIG", "MACOSX_"),
    *("CARGO_", "RUST", "NVCC"),
)

_ELSEWHERE: Final = frozenset(
    {
        *("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "PIP_DRY_RUN"),
        *("PIP_REQUIREMENT", "PIP_EDITABLE", "PIP_NO_DEPS", "PIP_QUIET", "PIP_VERBOSE"),
        *("UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_BREAK_SYSTEM_PACKAGES", "UV_WORKING_DIR"),
        *("UV_WORKING_DIRECTORY", "UV_PROJECT", "UV_PROJECT_ENVIRONMENT", "UV_NO_VERIFY_HASHES"),
        *("UV_VENV_SEED", "UV_VENV_RELOCATABLE"),
    }
)
"""They would have something else installed, or somewhere else, than the job says."""

_PIPS_WORD_FOR: Final = {
    "UV_DEFAULT_INDEX": "PIP_INDEX_URL",
    "UV_INDEX": "PIP_EXTRA_INDEX_URL",
    "UV_FIND_LINKS": "PIP_FIND_LINKS",
    "SSL_CERT_FILE": "PIP_CERT",
}
"""uv does not hear what pip is told: a box that takes packages from its own index says so once."""

_QUIET: Final = {
    "NO_COLOR": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_COLOR": "1",
    "PIP_NO_INPUT": "1",  # nobody is there to be asked
    "PIP_PROGRESS_BAR": "off",
    "PIP_ROOT_USER_ACTION": "ignore",
    "UV_NO_PROGRESS": "1",
}


def install_environment(parent: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of pip and uv, and so of the compilers that they start.

    What says where packages come from passes (`PIP_*`, `UV_*`, proxies, certificates), and what
    compilers read; what would mix another Python's packages into the virtualenv does not.

    Args:
        parent: The core's own.
    """
    passed = {
        name: value
        for name, value in parent.items()
        if name in _BUILDING or name.startswith(_BUILDING_PREFIXES)
    }
    told = {name: parent[pips] for name, pips in _PIPS_WORD_FOR.items() if parent.get(pips)}
    if "UV_FIND_LINKS" in told:
        told["UV_FIND_LINKS"] = ",".join(told["UV_FIND_LINKS"].split())
    # uv trusts a list of its own unless told; pip and the rest of the machine trust the machine's.
    merged = {"UV_SYSTEM_CERTS": "1", **told, **_as_worker(parent, None), **passed, **_QUIET}
    return {name: value for name, value in merged.items() if name not in _ELSEWHERE}


def verify_environment(parent: Mapping[str, str], venv: Path) -> dict[str, str]:
    """Returns the variables that an engine is imported under: a worker's, but for those that make
    it serve.

    Args:
        parent: The core's own.
        venv: The engine's virtualenv.
    """
    return _as_worker(parent, venv)


def trusted_hosts(parent: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the hosts whose certificates are not to be checked; only the environment says."""
    return tuple(filter(None, re.split(r"[,\s]+", parent.get(TRUSTED_HOSTS, ""))))


def _as_worker(parent: Mapping[str, str], venv: Path | None) -> dict[str, str]:
    variables = worker_environment(
        parent, engine="", listen="", voice_dir=Path(), venv=venv, extra={}
    )
    return {name: value for name, value in variables.items() if not name.startswith("RHAPSODE_")}
