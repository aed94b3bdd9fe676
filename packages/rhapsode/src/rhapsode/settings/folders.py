"""Where things lie by default: the user's own folders, as the platform has them."""

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import geteuid
from pathlib import Path
from typing import Any

import platformdirs

_APP = "rhapsode"


@dataclass(frozen=True)
class Folders:
    """The folders of one user on one machine."""

    config: Path
    """Where a config file is looked for last."""

    data: Path
    """Virtualenvs, voices and weights."""

    runtime: Path
    """Sockets; emptied at a reboot."""

    sources: Path | None
    """The `packages` folder of the checkout that this core runs from, where it does."""

    def as_layer(self) -> dict[str, Any]:
        """Returns the defaults that depend on the user, as a settings file would give them."""
        install: dict[str, Any] = {"venvDir": str(self.data / "venvs"), "python": sys.executable}
        if self.sources is not None:
            install["sourceDir"] = str(self.sources)
        workers = {"socketDir": str(self.runtime), "voiceDir": str(self.data / "voices")}
        return {"workers": workers, "install": install}


def user_folders(environ: Mapping[str, str]) -> Folders:
    """Returns this user's folders. Makes none of them.

    Args:
        environ: The process's own.
    """
    return Folders(
        config=platformdirs.user_config_path(_APP),
        data=platformdirs.user_data_path(_APP),
        runtime=_runtime(environ),
        sources=_sources(),
    )


def _runtime(environ: Mapping[str, str]) -> Path:
    session = environ.get("XDG_RUNTIME_DIR")
    # A service or a container often has no session, and so no runtime folder.
    if session and Path(session).is_dir():
        return Path(session, _APP)
    return Path(tempfile.gettempdir(), f"{_APP}-{geteuid()}")


def _sources() -> Path | None:
    packages = Path(__file__).parents[4]
    return packages if (packages / "rhapsode-worker" / "pyproject.toml").is_file() else None
