"""`rhapsode-conform`, from its words to its exit status."""

import json
from pathlib import Path

import pytest
from rhapsode_conform.cli import BROKEN, CONFORMS, NO_VERDICT, main

QUICK = ["--only", "2.handshake.fields", "--only", "3.health.vram", "--engine", "raw"]


def status_of(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert isinstance(left.value.code, int)
    return left.value.code


def test_a_worker_that_conforms_ends_with_0(
    capsys: pytest.CaptureFixture[str], raw_command: tuple[str, ...]
) -> None:
    assert status_of(*QUICK, "--", *raw_command, "-") == CONFORMS
    assert "conforms: 2 passed" in capsys.readouterr().out


def test_one_that_does_not_ends_with_1_and_says_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, raw_command: tuple[str, ...]
) -> None:
    junit = tmp_path / "report.xml"
    words = [*QUICK, "--junit", str(junit), "--", *raw_command, "3.health.vram"]
    assert status_of(*words) == BROKEN
    shown = capsys.readouterr().out
    assert "✗ 3.health.vram" in shown
    assert '"vramBytes": -1' in shown
    assert "<failure" in junit.read_text(encoding="utf-8")


def test_json_is_all_that_is_written(
    capsys: pytest.CaptureFixture[str], raw_command: tuple[str, ...]
) -> None:
    assert status_of(*QUICK, "--json", "--", *raw_command, "3.health.vram") == BROKEN
    read = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in read["checks"] if each["outcome"] == "failed"] == [
        "3.health.vram"
    ]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nowhere"],
        ["unix:/no/such.sock", "--only", "nothing"],
        ["--", "/no/such/command"],
    ],
    ids=["nothing", "no address", "no check", "no command"],
)
def test_without_a_verdict_it_ends_with_2_and_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of(*words) == NO_VERDICT
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("rhapsode-conform: ")
    assert told.err.count("\n") == 1


def test_the_list_needs_no_worker(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("--list", "--only", "dials") == 0
    assert "6.params.unknown" in capsys.readouterr().out
