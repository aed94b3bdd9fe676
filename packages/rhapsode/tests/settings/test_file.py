"""The config file: where it is looked for, and what it says."""

from pathlib import Path

import pytest
from rhapsode.settings.contents import DatabaseContents
from rhapsode.settings.file import find_config, load_settings, read_config
from rhapsode.settings.folders import Folders, user_folders
from rhapsode.settings.layers import SettingsRefused
from rhapsode.settings.start_refused import StartRefused


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    config = tmp_path / "config"
    config.mkdir()
    return Folders(config=config, data=tmp_path / "data", runtime=tmp_path / "run", sources=None)


def put(path: Path, text: str = "") -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_looked_for_in_the_order_of_who_said_so(here: Path, folders: Folders) -> None:
    assert find_config(None, {}, here, folders) is None
    user = put(folders.config / "rhapsode.toml")
    assert find_config(None, {}, here, folders) == user
    json_here = put(here / "rhapsode.config.json", "{}")
    assert find_config(None, {}, here, folders) == json_here
    toml_here = put(here / "rhapsode.toml")
    assert find_config(None, {}, here, folders) == toml_here
    named = put(here / "named.toml")
    variable = {"RHAPSODE_CONFIG": "named.toml"}
    assert find_config(None, variable, here, folders) == named
    flag = put(here / "flag.toml")
    assert find_config(Path("flag.toml"), variable, here, folders) == flag


def test_a_named_file_that_is_not_there_is_refused(here: Path, folders: Folders) -> None:
    with pytest.raises(SettingsRefused, match=r"none\.toml"):
        find_config(Path("none.toml"), {}, here, folders)
    with pytest.raises(SettingsRefused, match=r"none\.toml"):
        find_config(None, {"RHAPSODE_CONFIG": "none.toml"}, here, folders)


def test_without_a_file_the_defaults_are_a_working_server(folders: Folders) -> None:
    settings = load_settings(None, folders).settings
    assert settings.workers.voice_dir == folders.data / "voices"


def test_toml_and_json_say_the_same_in_the_same_words(here: Path, folders: Folders) -> None:
    toml = put(here / "a.toml", '[residency]\nkeepAliveSeconds = 9\n[engines."a.b"]\nvenv = "v"\n')
    text = '{"residency": {"keepAliveSeconds": 9}, "engines": {"a.b": {"venv": "v"}}}'
    json = put(here / "a.json", text)
    assert load_settings(toml, folders).settings == load_settings(json, folders).settings


def test_folders_in_a_file_lie_relative_to_the_file(here: Path, folders: Folders) -> None:
    path = put(
        here / "a.toml",
        '[workers]\nvoiceDir = "voices"\n[install]\nsourceDir = "/abs"\n'
        '[engines.tone]\nvenv = "venvs/tone"\ncwd = "~"\n',
    )
    settings = load_settings(path, folders).settings
    assert settings.workers.voice_dir == here / "voices"
    assert settings.install.source_dir == Path("/abs")
    assert settings.engines["tone"].venv == here / "venvs" / "tone"
    assert settings.engines["tone"].cwd == Path.home()


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.toml", "[server\n", "TOML"),
        ("a.toml", "port = 1\nport = 2\n", "TOML"),
        ("a.json", "{", "JSON"),
        ("a.json", "[]", "JSON"),
        ("a.json", "[" * 100_000, "nested"),
        ("a.toml", "a = " + "[" * 100_000, "nested"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_that_names_it(
    here: Path, name: str, text: str, kind: str
) -> None:
    path = put(here / name, text)
    with pytest.raises(SettingsRefused, match=rf"a\.\w+: .*{kind}"):
        read_config(path)


def test_sockets_go_to_the_sessions_folder_or_to_one_of_the_users_own(tmp_path: Path) -> None:
    assert user_folders({"XDG_RUNTIME_DIR": str(tmp_path)}).runtime == tmp_path / "rhapsode"
    assert user_folders({}).runtime.name.startswith("rhapsode-")
    gone = str(tmp_path / "gone")
    assert user_folders({"XDG_RUNTIME_DIR": gone}).runtime.name.startswith("rhapsode-")


def test_what_the_database_says_and_may_not_say_names_it_and_the_key(folders: Folders) -> None:
    place = Path("/c/rhapsode.db")
    for saved, key in (
        ({"log.level": "loud"}, "log.level"),
        ({"engines.tone.keepAliveSeconds": -2}, "engines.tone.keepAliveSeconds"),
        ({"server.port": 0}, "server.port"),
    ):
        with pytest.raises(SettingsRefused, match=f"{place}: {key}: "):
            load_settings(None, folders, DatabaseContents(place, {}, saved))
    recorded = {"tone": {"venv": "/v", "pull": True}}
    with pytest.raises(SettingsRefused, match=rf"{place}: engines\.tone\.pull"):
        load_settings(None, folders, DatabaseContents(place, recorded, {}))


def test_without_a_file_folders_of_the_database_lie_relative_to_it(folders: Folders) -> None:
    contents = DatabaseContents(
        folders.config / "rhapsode.db", {"tone": {"venv": "v"}}, {"workers.voiceDir": "voices"}
    )
    loaded = load_settings(None, folders, contents)
    assert loaded.settings.workers.voice_dir == folders.config / "voices"
    assert loaded.settings.engines["tone"].venv == folders.config / "v"
    assert loaded.origins == {"tone": "database"}


def test_a_saved_value_that_stops_a_start_is_told_with_the_way_out(folders: Folders) -> None:
    place = Path("/c/rhapsode.db")
    with pytest.raises(SettingsRefused, match="--ignore-saved"):
        load_settings(None, folders, DatabaseContents(place, {}, {"log.level": "loud"}))
    recorded = {"tone": {"venv": "/v", "pull": True}}
    # Engines stay, so there it would be no way out.
    with pytest.raises(SettingsRefused) as refused:
        load_settings(None, folders, DatabaseContents(place, recorded, {}))
    assert "--ignore-saved" not in str(refused.value)


@pytest.mark.contract("10.settings.ignore-saved")
def test_what_is_saved_may_be_ignored_and_engines_stay(here: Path, folders: Folders) -> None:
    path = put(here / "a.toml", "[server]\nport = 81\n")
    contents = DatabaseContents(
        here / "rhapsode.db", {"tone": {"venv": "/v"}}, {"server.port": 82, "log.level": "loud"}
    )
    loaded = load_settings(path, folders, contents, ignores_saved=True)
    assert loaded.settings.server.port == 81
    assert list(loaded.settings.engines) == ["tone"]
    assert loaded.source("server.port") == "config"


def test_a_refusal_names_the_file_that_each_value_came_from(here: Path, folders: Folders) -> None:
    path = put(here / "a.toml", "[server]\nport = 81\n")
    contents = DatabaseContents(here / "rhapsode.db", {}, {"server.host": "h"})
    loaded = load_settings(path, folders, contents)
    told = str(loaded.refusal(StartRefused("no", "server.host", "server.port")))
    assert told.startswith(
        f"no (server.host from {here}/rhapsode.db, server.port from {path}); rhapsode serve"
    )
    told = str(loaded.refusal(StartRefused("no", "server.port", "workers.voiceDir")))
    assert told == f"no (server.port from {path})"
