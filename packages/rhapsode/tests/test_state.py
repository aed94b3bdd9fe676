"""The state database: what it keeps, and what it refuses to start with."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rhapsode.settings.folders import Folders
from rhapsode.state import StateDatabase, StateRefused, database_path
from rhapsode_contract import Internal

ENTRY = {"venv": "/v/tone", "accepted": "CC-BY-NC-4.0"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rhapsode.db"


def refusal(path: Path) -> str:
    with pytest.raises(StateRefused) as refused, StateDatabase.open(path, busy_seconds=0):
        pass
    message = str(refused.value)
    assert str(path) in message and "\n" not in message
    return message


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


# What it keeps.


@pytest.mark.contract("10.state.place")
def test_it_lies_beside_the_config_or_in_the_users_folder(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "user", tmp_path, tmp_path, None)
    assert database_path(Path("/etc/r/rhapsode.toml"), folders) == Path("/etc/r/rhapsode.db")
    assert database_path(None, folders) == tmp_path / "user" / "rhapsode.db"


@pytest.mark.contract("10.state.kept")
def test_what_it_is_told_is_there_after_a_restart(path: Path) -> None:
    with StateDatabase.open(path) as state:
        assert (state.engines(), state.settings()) == ({}, {})
        identity = state.identity
        state.record_engine("tone", ENTRY)
        state.record_engine("a.b", {"venv": "/v/ab"})
        state.write_settings({"server.port": 9090, "management.origins": ["http://a"]})
        state.write_settings({"server.port": None, "update.check": False})
    with StateDatabase.open(path) as state:
        assert state.identity == identity
        assert state.engines() == {"a.b": {"venv": "/v/ab"}, "tone": ENTRY}
        assert list(state.engines()) == ["a.b", "tone"]
        assert state.settings() == {"management.origins": ["http://a"], "update.check": False}
        assert state.contents().settings == state.settings()


def test_two_databases_have_two_identities(path: Path) -> None:
    with StateDatabase.open(path) as one, StateDatabase.open(path.with_name("b.db")) as other:
        assert one.identity != other.identity


@pytest.mark.contract("10.state.uninstall-settings")
def test_an_engine_goes_with_its_own_settings_and_no_others(path: Path) -> None:
    kept = {"engines.a.b.keepAliveSeconds": 2, "engines.ab.keepAliveSeconds": 3, "server.port": 1}
    with StateDatabase.open(path) as state:
        state.record_engine("a", ENTRY)
        state.record_engine("a.b", ENTRY)
        state.write_settings({"engines.a.keepAliveSeconds": 1, **kept})
        state.remove_engine("a")
        assert state.engines() == {"a.b": ENTRY}
        assert state.settings() == kept
        state.remove_engine("a")


def test_a_setting_that_an_entry_holds_is_cleared_with_it(path: Path) -> None:
    with StateDatabase.open(path) as state:
        state.record_engine("a.b", {"venv": "/v", "keepAliveSeconds": 5})
        state.write_settings({"engines.a.b.keepAliveSeconds": None})
        assert state.engines() == {"a.b": {"venv": "/v"}}


@pytest.mark.contract("10.state.journal")
def test_its_journal_is_there_only_while_it_writes(path: Path) -> None:
    with StateDatabase.open(path) as state:
        state.write_settings({"server.port": 9090})
        assert names(path.parent) == {"rhapsode.db", "rhapsode.db.lock"}
        # So a copy made while the core runs is the whole of it.
        copy = path.with_name("copy.db")
        copy.write_bytes(path.read_bytes())
        with StateDatabase.open(copy) as restored:
            assert restored.settings() == {"server.port": 9090}


@pytest.mark.contract("10.state.private")
def test_nobody_else_may_read_it(path: Path) -> None:
    path.touch(0o644)
    path.chmod(0o644)
    with StateDatabase.open(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    umask = os.umask(0)
    try:
        with StateDatabase.open(path.with_name("new.db")):
            assert stat.S_IMODE(path.with_name("new.db").stat().st_mode) == 0o600
    finally:
        os.umask(umask)


@pytest.mark.contract("10.state.private")
def test_a_token_that_was_cleared_is_not_left_in_the_file(path: Path) -> None:
    with StateDatabase.open(path) as state:
        state.write_settings({"management.token": "correct horse"})
        assert b"correct horse" in path.read_bytes()
        state.write_settings({"management.token": None})
        assert b"correct horse" not in path.read_bytes()


def test_a_database_that_somebody_made_a_log_for_has_none_again(path: Path) -> None:
    with StateDatabase.open(path) as state:
        state.write_settings({"server.port": 9090})
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA journal_mode = WAL")
    other.close()
    with StateDatabase.open(path) as state:
        assert state.settings() == {"server.port": 9090}
        assert not path.with_name("rhapsode.db-wal").exists()


# What it can't write.


def locked(path: Path) -> Callable[[], None]:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    return other.close


def moved_away(path: Path) -> Callable[[], None]:
    away = path.rename(path.with_name("away"))
    return lambda: away.rename(path) and None


@pytest.mark.contract("10.settings.unwritable")
@pytest.mark.parametrize("spoil", [locked, moved_away])
def test_a_write_that_fails_says_so_and_changes_nothing(
    path: Path, spoil: Callable[[Path], Callable[[], None]]
) -> None:
    with StateDatabase.open(path, busy_seconds=0) as state:
        state.write_settings({"server.port": 9090})
        mend = spoil(path)
        with pytest.raises(Internal, match=r"rhapsode\.db: can't be written: "):
            state.write_settings({"server.port": 1, "server.host": "::1"})
        mend()
        assert state.settings() == {"server.port": 9090}
        state.write_settings({"server.port": 2})
        assert state.settings() == {"server.port": 2}


def test_a_change_of_which_a_part_fails_is_not_made(path: Path) -> None:
    with StateDatabase.open(path) as state:
        with pytest.raises(TypeError):
            state.write_settings({"server.port": 9090, "server.host": object()})
        assert state.settings() == {}
        state.write_settings({"server.port": 1})


def test_after_its_end_it_takes_nothing(path: Path) -> None:
    with StateDatabase.open(path) as state:
        pass
    with pytest.raises(Internal):
        state.write_settings({"server.port": 1})
    with pytest.raises(Internal):
        state.engines()


# What it does not start with.


@pytest.mark.contract("10.state.boot")
def test_a_place_that_cannot_be_written_to_is_refused_by_name(path: Path) -> None:
    path.mkdir()
    assert "Is a directory" in refusal(path)
    file = path.with_name("file")
    file.touch()
    refusal(file / "rhapsode.db")


@pytest.mark.contract("10.state.boot")
def test_a_database_that_another_program_writes_to_is_refused(path: Path) -> None:
    with StateDatabase.open(path):
        pass
    unlock = locked(path)
    assert "locked" in refusal(path)
    unlock()


def run(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("statement", ["CREATE TABLE theirs (x)", "PRAGMA application_id = 7"])
def test_the_database_of_another_program_is_refused_and_left_alone(
    path: Path, statement: str
) -> None:
    run(path, statement)
    run(path, "PRAGMA journal_mode = WAL")
    before = path.read_bytes()
    assert "another program" in refusal(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(before := b"[server]\nport = 1\n" * 99)
    assert "not a database" in refusal(path)
    assert path.read_bytes() == before


def test_the_database_of_a_newer_rhapsode_is_refused(path: Path) -> None:
    with StateDatabase.open(path):
        pass
    run(path, "PRAGMA user_version = 2")
    assert "newer Rhapsode" in refusal(path)


def test_a_database_that_is_damaged_is_refused(path: Path) -> None:
    with StateDatabase.open(path) as state:
        state.write_settings({f"server.port{n}": n for n in range(2000)})
    whole = bytearray(path.read_bytes())
    whole[-4096:] = b"\x99" * 4096
    path.write_bytes(whole)
    refusal(path)


@pytest.mark.contract("10.state.one-core")
def test_a_second_core_is_refused_while_the_first_is_there(path: Path, tmp_path: Path) -> None:
    alias = tmp_path / "elsewhere"
    alias.symlink_to(path)
    with StateDatabase.open(path):
        assert "another core" in refusal(path)
        assert "another core" in refusal(alias)
        code = f"from rhapsode.state import *; StateDatabase.open(Path({str(path)!r})).__enter__()"
        second = subprocess.run(
            [sys.executable, "-c", f"from pathlib import Path; {code}"],
            check=False,
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert second.returncode != 0
        assert "another core" in second.stderr
    with StateDatabase.open(path):
        pass


def test_a_refused_start_leaves_no_lock_behind(path: Path) -> None:
    path.write_bytes(b"no database" * 99)
    refusal(path)
    path.unlink()
    with StateDatabase.open(path):
        pass


# The file it replaces.


def former(path: Path, document: object) -> Path:
    file = path.with_name("rhapsode.engines.json")
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


@pytest.mark.contract("10.state.former")
@pytest.mark.parametrize("document", [{"tone": ENTRY}, {"engines": {"tone": ENTRY}}])
def test_the_former_file_is_taken_in_and_renamed(path: Path, document: object) -> None:
    file = former(path, document)
    said = file.read_text(encoding="utf-8")
    with StateDatabase.open(path) as state:
        assert state.engines() == {"tone": ENTRY}
    assert not file.exists()
    kept = path.with_name("rhapsode.engines.json.imported")
    assert kept.read_text(encoding="utf-8") == said
    with StateDatabase.open(path) as state:
        state.remove_engine("tone")
    with StateDatabase.open(path) as state:
        assert state.engines() == {}


def test_an_engine_may_be_called_engines(path: Path) -> None:
    former(path, {"engines": {"venv": "/v"}})
    with StateDatabase.open(path) as state:
        assert state.engines() == {"engines": {"venv": "/v"}}


@pytest.mark.contract("10.state.former")
@pytest.mark.parametrize(
    "document", [{"tone": ENTRY, "a/b": ENTRY}, {"tone": ENTRY, "b": {"pull": 1}}, [], 7]
)
def test_a_former_file_that_makes_no_sense_is_refused_and_stays(
    path: Path, document: object
) -> None:
    file = former(path, document)
    with pytest.raises(StateRefused, match=r"rhapsode\.engines\.json"), StateDatabase.open(path):
        pass
    assert file.exists()
    file.unlink()
    with StateDatabase.open(path) as state:
        assert state.engines() == {}
