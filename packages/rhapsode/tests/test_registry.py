"""Where a worker comes from."""

from pathlib import Path

import pytest
from rhapsode.registry import (
    ForeignCommand,
    PythonModule,
    RemoteUrl,
    default_module,
    in_service,
    origin_of,
    unknown_engine,
)
from rhapsode.settings.entry import EngineEntry


def test_a_virtualenv_runs_the_engines_own_module() -> None:
    entry = EngineEntry(venv=Path("/v"))
    assert origin_of("tone", entry) == PythonModule(Path("/v/bin/python"), "rhapsode_engine_tone")
    named = EngineEntry(venv=Path("/v"), module="mine.worker")
    assert origin_of("tone", named) == PythonModule(Path("/v/bin/python"), "mine.worker")


def test_a_command_and_an_address_are_taken_as_they_are() -> None:
    assert origin_of("x", EngineEntry(command=("serve", "-v"))) == ForeignCommand(("serve", "-v"))
    assert origin_of("x", EngineEntry(url="http://box:9/")) == RemoteUrl("http://box:9/")


@pytest.mark.parametrize(("engine", "module"), [("tone", "tone"), ("a-b.c:d", "a_b_c_d")])
def test_an_ids_module_is_a_name_that_python_can_import(engine: str, module: str) -> None:
    assert default_module(engine) == f"rhapsode_engine_{module}"


def test_a_disabled_engine_is_not_in_service() -> None:
    entries = {"a": EngineEntry(venv=Path("/a")), "b": EngineEntry(venv=Path("/b"), disabled=True)}
    assert list(in_service(entries)) == ["a"]


def test_an_unknown_engine_is_told_which_there_are() -> None:
    assert "tone, hibari" in unknown_engine("x", ["tone", "hibari"]).message
    assert "none" in unknown_engine("x", []).message
