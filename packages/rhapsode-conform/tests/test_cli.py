"""`rhapsode-conform`, from its words to its exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

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


@pytest.mark.parametrize(
    "words",
    [
        ["--skip", "*"],
        ["--junit", "/no/such/folder/report.xml"],
        ["--junit", "/"],
        ["--text", " ..."],
    ],
    ids=["none is left", "no folder", "no file", "nothing to say"],
)
def test_what_cannot_come_to_a_verdict_is_said_before_a_check_is_run(
    words: list[str], capsys: pytest.CaptureFixture[str], raw_command: tuple[str, ...]
) -> None:
    assert status_of(*QUICK, *words, "--", *raw_command, "-") == NO_VERDICT
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1


def test_a_worker_is_asked_what_stands_behind_text(raw_command: tuple[str, ...]) -> None:
    words = ["--only", "6.seed.optional", "--engine", "raw"]
    command = ["--", *raw_command, "in Georgian"]
    assert status_of(*words, *command) == BROKEN
    assert status_of(*words, "--text", "წვიმა მოვა.", *command) == CONFORMS


def test_a_start_takes_no_longer_than_the_timeout(capsys: pytest.CaptureFixture[str]) -> None:
    mute = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    assert status_of("--timeout", "1", "--", *mute) == NO_VERDICT
    assert "said nothing within 1 s" in capsys.readouterr().err


def test_where_every_check_is_skipped_it_says_so_and_ends_with_2(
    capsys: pytest.CaptureFixture[str], raw_command: tuple[str, ...]
) -> None:
    only = ["--variant", "plain", "--only", "7.create.route", "--engine", "raw"]
    assert status_of(*only, "--", *raw_command, "-") == NO_VERDICT
    told = capsys.readouterr()
    assert "was not checked: 1 skipped" in told.out
    assert "no check was run" in told.err


def test_where_it_gives_a_worker_up_it_says_so_and_ends_with_2(
    capsys: pytest.CaptureFixture[str], raw_command: tuple[str, ...]
) -> None:
    only = ["--only", "d.queue", "--only", "d.request-id", "--engine", "raw", "--timeout", "1"]
    assert status_of(*only, "--", *raw_command, "stalls") == NO_VERDICT
    told = capsys.readouterr()
    assert "was given up: 3 failed, 1 undecided" in told.out
    assert "1 checks were not made" in told.err


def test_the_last_report_is_kept_where_there_is_no_new_one(tmp_path: Path) -> None:
    former, none = tmp_path / "former.xml", tmp_path / "none.xml"
    former.write_text("<former/>", encoding="utf-8")
    for junit in (former, none):
        assert status_of("--junit", str(junit), "--", "/no/such/command") == NO_VERDICT
    assert former.read_text(encoding="utf-8") == "<former/>"
    assert not none.exists()


def test_a_new_report_takes_the_place_of_the_last(
    tmp_path: Path, raw_command: tuple[str, ...]
) -> None:
    junit = tmp_path / "report.xml"
    junit.write_text("<former/>" * 1000, encoding="utf-8")
    assert status_of(*QUICK, "--junit", str(junit), "--", *raw_command, "-") == CONFORMS
    assert ElementTree.parse(junit).getroot().tag == "testsuite"


def test_the_status_of_a_command_that_ends_at_once_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert status_of("--", sys.executable, "-c", "import sys; sys.exit(7)") == NO_VERDICT
    assert "ended with status 7" in capsys.readouterr().err


def test_ended_by_a_signal_it_leaves_neither_a_worker_nor_a_folder(
    tmp_path: Path, raw_command: tuple[str, ...]
) -> None:
    # The worker tells that it is being looked at, by the request that it never answers.
    told = tmp_path / "told"
    os.mkfifo(told)
    program = (
        "import os, socket, sys\n"
        "listen = os.environ['RHAPSODE_WORKER_LISTEN']\n"
        "server = socket.socket(socket.AF_UNIX)\n"
        "server.bind(listen[5:]); server.listen()\n"
        'print(\'{"ready": true, "listen": "\' + listen + \'"}\', flush=True)\n'
        f"taken = server.accept(); held = open({str(told)!r}, 'w')\n"
        "held.write('x'); held.flush(); sys.stdin.read()"
    )
    command = [sys.executable, "-m", "rhapsode_conform", "--", sys.executable, "-c", program]
    folder = tmp_path / "temporary"
    folder.mkdir()
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(folder)}, stderr=subprocess.PIPE
    ) as conform:
        with told.open(encoding="utf-8") as worker:
            assert worker.read(1) == "x"
            assert os.listdir(folder) != []
            conform.terminate()
            assert worker.read() == "", "the pipe ends with the worker"
        _, words = conform.communicate(timeout=60)
    assert conform.returncode == NO_VERDICT
    assert b"ended by SIGTERM" in words
    assert os.listdir(folder) == []


def test_the_list_needs_no_worker(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("--list", "--only", "dials") == 0
    assert "6.params.unknown" in capsys.readouterr().out
