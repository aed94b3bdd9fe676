"""The environment of a worker: built from a list, not inherited (design, "Processes")."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rhapsode_contract import CONTRACT

_PASSED: Final = frozenset(
    {
        *("PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        "NODE_EXTRA_CA_CERTS",
    }
)
_PASSED_PREFIXES: Final = (
    *("LC_", "XDG_"),
    *("CUDA_", "NVIDIA_", "HIP_", "HSA_", "ROCR_", "PYTORCH_", "TORCH_", "OMP_", "VLLM_", "HF_"),
    # Weights may come through a package index (design, "Weights").
    *("PIP_", "UV_", "NPM_CONFIG_", "npm_config_"),
)

_CARD_ORDER: Final = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""How a worker counts its cards where nobody says otherwise: as their driver does. CUDA alone puts
the one first that it takes for the fastest, and then nobody else knows which is `cuda:0`."""


def cuda_variables(parent: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Returns those variables of a worker that say which cards it sees, and how it counts them.

    Args:
        parent: The core's own.
        extra: The entry's own `env`.
    """
    merged = {**_CARD_ORDER, **parent, **extra}
    return {name: value for name, value in merged.items() if name.startswith("CUDA_")}


def worker_environment(
    parent: Mapping[str, str],
    *,
    engine: str,
    listen: str,
    voice_dir: Path,
    venv: Path | None,
    extra: Mapping[str, str],
) -> dict[str, str]:
    """Returns the variables a worker is started with.

    Args:
        parent: The core's own.
        engine: The engine's id.
        listen: The address it should listen on.
        voice_dir: The folder of every engine's voices.
        venv: The worker's virtualenv, whose programs come first; None where it has none.
        extra: The entry's own `env`; it wins over all the rest.
    """
    passed = {
        name: value
        for name, value in parent.items()
        if name in _PASSED or name.startswith(_PASSED_PREFIXES)
    }
    if venv is not None:
        path = passed.get("PATH")
        programs = str(venv / "bin")
        passed["PATH"] = f"{programs}:{path}" if path else programs
    return {
        **_CARD_ORDER,
        **passed,
        "RHAPSODE_WORKER_LISTEN": listen,
        "RHAPSODE_WORKER_ENGINE": engine,
        "RHAPSODE_WORKER_CONTRACT": str(CONTRACT),
        "RHAPSODE_WORKER_LIFELINE": "stdin",
        "RHAPSODE_VOICE_DIR": str(voice_dir / engine),
        **extra,
    }
