"""The operator's config file: where it is looked for, and what it says."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from rhapsode.settings.contents import DatabaseContents
from rhapsode.settings.folders import Folders
from rhapsode.settings.layers import Layer, MergedSettings, SettingsRefused, Source, merge
from rhapsode.settings.loaded import LoadedSettings, Origin, read_saved, read_set_aside
from rhapsode.settings.model import Settings

CONFIG_VARIABLE: Final = "RHAPSODE_CONFIG"
FILE_NAMES: Final = ("rhapsode.toml", "rhapsode.config.json")
"""In a folder that holds both the first is read."""


def find_config(
    flag: Path | None, environ: Mapping[str, str], here: Path, folders: Folders
) -> Path | None:
    """Returns the config file to read: the flag's, the variable's, this folder's, the user's.

    Args:
        flag: The value of `--config`, or None.
        environ: Usually the process's own.
        here: The folder that was started in.
        folders: The user's.

    Returns:
        An absolute path, or None where there is no file and the defaults hold.

    Raises:
        SettingsRefused: A file was named, and is not there.
    """
    named = flag or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    if named is not None:
        path = here / named.expanduser()
        if not path.is_file():
            raise SettingsRefused(f"{path}: there is no such config file")
        return path
    candidates = (folder / name for folder in (here, folders.config) for name in FILE_NAMES)
    return next((path for path in candidates if path.is_file()), None)


def load_settings(
    path: Path | None,
    folders: Folders,
    contents: DatabaseContents | None = None,
    *,
    ignores_saved: bool = False,
) -> LoadedSettings:
    """Reads the settings in force: the defaults, the file over them, the database over both.

    Of the database the engines alone count where what is saved in it is to be ignored.

    Of an engine that the file names as well as the database, the file's entry counts. A folder
    that is not absolute lies relative to the file, or where there is none, to the database.

    Raises:
        SettingsRefused: The file can't be read, or it or the database says something that is not
            allowed.
    """
    base = path.parent.absolute() if path is not None else folders.config
    config = read_config(path) if path is not None else {}
    layers = [Layer("default", folders.as_layer(), "default")]
    named = config.get("engines")
    named_ids = set(cast("dict[str, Any]", named)) if isinstance(named, dict) else set[str]()
    if contents is not None:
        recorded = {id: entry for id, entry in contents.engines.items() if id not in named_ids}
        layers.append(Layer("database", {"engines": recorded}, str(contents.path)))
    if path is not None:
        layers.append(Layer("config", config, str(path)))
    merged = merge(layers)
    beneath = MergedSettings(_anchored(merged.settings, base), merged.sources)
    origins: dict[str, Origin] = {
        engine: "config" if engine in named_ids else "database"
        for engine in beneath.settings.engines
    }
    places: dict[Source, Path] = {} if path is None else {"config": path}
    if contents is None:
        return LoadedSettings(beneath, base, origins, places=places)
    places["database"] = contents.path
    if ignores_saved:
        aside = read_set_aside(contents, base)
        return LoadedSettings(beneath, base, origins, set_aside=aside, places=places)
    return LoadedSettings(beneath, base, origins, read_saved(contents, base), places=places)


def read_config(path: Path) -> dict[str, Any]:
    """Returns the tables of a TOML or JSON file.

    Raises:
        SettingsRefused: It can't be read, or is not what its name says.
    """
    try:
        text = path.read_text(encoding="utf-8")
        values: object = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise SettingsRefused(f"{path}: {error.strerror}") from None
    except ValueError as error:  # both decoders', and that of UTF-8
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise SettingsRefused(f"{path}: this is not {kind}: {error}") from None
    except RecursionError:
        raise SettingsRefused(f"{path}: it is nested too deeply") from None
    if not isinstance(values, dict):
        raise SettingsRefused(f"{path}: should be a JSON object")
    return cast(dict[str, Any], values)


def _anchored(settings: Settings, base: Path) -> Settings:
    """Returns the settings with absolute folders."""

    def absolute(folder: Path | None) -> Path | None:
        return None if folder is None else base / folder.expanduser()

    workers, install = settings.workers, settings.install
    return settings.model_copy(
        update={
            "workers": workers.model_copy(
                update={
                    "socket_dir": absolute(workers.socket_dir),
                    "voice_dir": absolute(workers.voice_dir),
                }
            ),
            "install": install.model_copy(
                update={
                    "venv_dir": absolute(install.venv_dir),
                    "source_dir": absolute(install.source_dir),
                }
            ),
            "engines": {
                engine: entry.model_copy(
                    update={
                        "venv": absolute(entry.venv),
                        "cwd": absolute(entry.cwd),
                        "ca_file": absolute(entry.ca_file),
                    }
                )
                for engine, entry in settings.engines.items()
            },
        }
    )
