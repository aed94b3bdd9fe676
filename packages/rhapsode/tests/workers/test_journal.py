"""What a worker says on standard error."""

import logging

import pytest
from rhapsode.workers.journal import Journal
from rhapsode_contract import LogLine

LINE = b'{"ts":"x","level":"warning","message":"low","logger":"a.b","requestId":"r1","new":1}'


@pytest.mark.contract("2.logs.forwarded")
def test_a_json_line_becomes_a_record_of_ours_with_the_engines_id(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Journal("tone").write(LINE)
    record = caplog.records[0]
    assert (record.levelno, record.getMessage()) == (logging.WARNING, "low")
    about = {name: vars(record).get(name) for name in ("engine", "workerLogger", "requestId")}
    assert about == {"engine": "tone", "workerLogger": "a.b", "requestId": "r1"}


@pytest.mark.parametrize("line", [b"Traceback:", b'{"level": 3}', b"{broken", b"\xff\xfe"])
def test_any_other_line_is_forwarded_as_text(line: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    Journal("tone").write(line)
    assert caplog.records[0].getMessage() == line.decode(errors="replace")


def test_the_last_lines_are_kept_with_what_an_exception_said_last() -> None:
    journal = Journal("tone")
    for number in range(100):
        journal.write(b"line %d" % number)
    journal.write(b'{"message":"it failed","exception":"Traceback\\nValueError: no"}')
    assert journal.last_words.endswith("line 99\nit failed\nValueError: no")
    assert "line 50" not in journal.last_words


def test_a_flood_on_one_line_does_not_make_a_long_message() -> None:
    journal = Journal("tone")
    journal.write(b"x" * 60_000)
    assert len(journal.last_words) < 2_000


def test_whoever_wants_to_hear_of_a_download_hears_of_it() -> None:
    heard: list[LogLine] = []
    Journal("tone", heard.append).write(b'{"event":"fetch","received":5,"total":9}')
    assert (heard[0].event, heard[0].received, heard[0].total) == ("fetch", 5, 9)
