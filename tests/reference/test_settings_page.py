"""`docs/settings.md` says what the model says."""

import tomllib
from pathlib import Path

from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.folders import Folders
from rhapsode.settings.layers import Layer, merge
from rhapsode.settings.setting import SETTINGS

from .settings_page import FOLDER_DEFAULTS, INTRODUCTION, PAGE_FILE, page


def test_the_committed_page_is_the_one_that_the_model_makes() -> None:
    assert PAGE_FILE.read_text(encoding="utf-8") == page(), (
        "run `python -m tests.reference.settings_page` in the repository's root"
    )


def test_every_setting_and_every_key_of_an_entry_is_on_it() -> None:
    text = page()
    names = [setting.name for setting in SETTINGS.values()]
    names += [field.alias or name for name, field in EngineEntry.model_fields.items()]
    assert [name for name in names if f"| `{name}` |" not in text] == []
    assert set(FOLDER_DEFAULTS) < set(SETTINGS)


def test_what_is_above_a_setting_is_said_beside_it() -> None:
    (check,) = [line for line in page().splitlines() if line.startswith("| `check` |")]
    assert "`RHAPSODE_UPDATE_CHECK=0`" in check
    assert "`rhapsode serve --ignore-saved`" in page()


def test_its_example_is_a_config_file() -> None:
    _, _, rest = INTRODUCTION.partition("```toml\n")
    folders = Folders(Path("/c"), Path("/d"), Path("/r"), None)
    example = tomllib.loads(rest.partition("```")[0])
    settings = merge(
        [Layer("default", folders.as_layer(), "default"), Layer("config", example, "example")]
    ).settings
    assert settings.engines["tone"].keep_alive_seconds == -1
