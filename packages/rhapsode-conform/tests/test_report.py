"""A report, for people and for programs."""

import io
import json
import xml.etree.ElementTree as ET

from rhapsode_conform import CHECKS, Check, Level, Outcome, Report, Result, Verdict
from rhapsode_conform.outcome import PASSED
from rhapsode_conform.report import PeopleReport, as_json, as_junit, list_checks
from rich.console import Console

MUST = next(check for check in CHECKS if check.promise.level is Level.MUST)
SHOULD = next(check for check in CHECKS if check.promise.level is Level.SHOULD)
BROKEN = Outcome(Verdict.FAILED, "it <is> wrong", "something \x00 odd")


def report(*pairs: tuple[Check, Outcome]) -> Report:
    return Report("unix:/a", tuple(Result(check, outcome, 0.5) for check, outcome in pairs))


def written(shown: Report) -> str:
    stream = io.StringIO()
    people = PeopleReport(Console(file=stream, width=200))
    for result in shown.results:
        people.tell(result)
    people.close(shown)
    return stream.getvalue()


def test_a_broken_must_is_the_verdict() -> None:
    assert not report((MUST, BROKEN), (SHOULD, PASSED)).conforms


def test_a_broken_should_is_told_and_forgiven() -> None:
    forgiven = report((MUST, PASSED), (SHOULD, BROKEN))
    assert forgiven.conforms
    assert forgiven.failed == (SHOULD.id,)


def test_nothing_but_a_failure_is_held_against_a_worker() -> None:
    undecided = Outcome(Verdict.UNDECIDED, "who knows")
    assert report((MUST, undecided), (MUST, Outcome(Verdict.SKIPPED, "none"))).conforms


def test_where_all_was_skipped_there_is_no_verdict() -> None:
    nothing = report((MUST, Outcome(Verdict.SKIPPED, "none")))
    assert not nothing.was_checked
    assert not nothing.conforms
    assert "was not checked: 1 skipped" in written(nothing)


def test_where_some_were_not_asked_nobody_is_said_to_conform() -> None:
    unasked = Result(MUST, Outcome(Verdict.UNDECIDED, "not asked"), 0.0, is_unasked=True)
    given_up = Report("unix:/a", (Result(SHOULD, BROKEN, 0.5), unasked))
    assert not given_up.conforms
    assert not given_up.is_broken
    assert "was given up: 1 failed, 1 undecided" in written(given_up)
    suite = ET.fromstring(as_junit(given_up))
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "1", "1")
    assert suite.find("testcase/error") is not None


def test_people_see_a_line_each_and_what_was_seen() -> None:
    text = written(report((MUST, BROKEN), (SHOULD, PASSED)))
    assert MUST.family in text
    assert f"✗ {MUST.id}" in text
    assert "it <is> wrong" in text and "seen: something" in text
    assert SHOULD.promise.text in text
    assert "does not conform: 1 passed, 1 failed" in text


def test_programs_read_json() -> None:
    read = json.loads(as_json(report((MUST, BROKEN), (SHOULD, PASSED))))
    assert read["conforms"] is False
    assert read["counts"] == {"passed": 1, "failed": 1, "skipped": 0, "undecided": 0}
    first = read["checks"][0]
    assert (first["id"], first["outcome"], first["level"]) == (MUST.id, "failed", "must")


def test_junit_counts_a_broken_must_as_a_failure_and_the_rest_as_skipped() -> None:
    suite = ET.fromstring(as_junit(report((MUST, BROKEN), (SHOULD, BROKEN), (MUST, PASSED))))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "it <is> wrong" in str(failure.get("message"))


def test_a_list_names_every_check_and_what_it_needs() -> None:
    stream = io.StringIO()
    list_checks(Console(file=stream, width=400), CHECKS)
    lines = stream.getvalue().splitlines()
    assert len(lines) == len(CHECKS)
    assert CHECKS[0].needs
    assert "needs a worker that this tool starts" in lines[0]
