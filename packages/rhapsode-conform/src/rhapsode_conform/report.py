"""A report for people, for programs and for continuous integration."""

import json
import xml.etree.ElementTree as ET
from typing import Final

from rich.console import Console
from rich.text import Text

from rhapsode_conform.check import Check
from rhapsode_conform.outcome import Verdict
from rhapsode_conform.promise import Level
from rhapsode_conform.result import Report, Result

_MARKS: Final = {
    Verdict.PASSED: ("✓", "green"),
    Verdict.FAILED: ("✗", "bold red"),
    Verdict.SKIPPED: ("-", "dim"),
    Verdict.UNDECIDED: ("?", "yellow"),
}
_ID_WIDTH: Final = 30


class PeopleReport:
    """Writes each result as it comes, one line each, under the name of its family."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._family = ""

    def tell(self, result: Result) -> None:
        """Writes one result."""
        if result.check.family != self._family:
            self._family = result.check.family
            self._write(Text(f"\n{self._family.replace('_', ' ')}", style="bold"))
        mark, style = _MARKS[result.outcome.verdict]
        if result.outcome.verdict is Verdict.FAILED and not result.is_broken_must:
            style = "magenta"
        line = Text(f"  {mark} {result.check.id:<{_ID_WIDTH}} ", style=style)
        line.append(_line(result), style="" if result.outcome.verdict is Verdict.FAILED else style)
        self._write(line)
        if result.outcome.seen:
            self._write(Text(f"      seen: {result.outcome.seen}", style="dim"))

    def close(self, report: Report) -> None:
        """Writes the verdict."""
        counts = ", ".join(f"{count} {name}" for name, count in report.counts().items() if count)
        word, style = _verdict(report)
        self._write(Text(f"\n{report.target} {word}", style=style).append(f": {counts}", style=""))

    def _write(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)


def _verdict(report: Report) -> tuple[str, str]:
    """Returns the verdict in words, and its style."""
    if not report.was_checked:
        return "was not checked", "bold yellow"
    if report.is_broken:
        return "does not conform", "bold red"
    return ("was given up", "bold yellow") if report.unasked else ("conforms", "bold green")


def _line(result: Result) -> str:
    if result.outcome.verdict is Verdict.PASSED:
        return result.check.promise.text
    level = "" if result.check.promise.level is Level.MUST else " (should)"
    return f"{result.outcome.verdict}{level}: {result.outcome.why}"


def as_json(report: Report) -> str:
    """Returns the report as one JSON object."""
    checks = [
        {
            "id": result.check.id,
            "family": result.check.family,
            "level": result.check.promise.level,
            "promise": result.check.promise.text,
            "outcome": result.outcome.verdict,
            "why": result.outcome.why,
            "seen": result.outcome.seen,
            "seconds": round(result.seconds, 3),
        }
        for result in report.results
    ]
    head = {"target": report.target, "conforms": report.conforms, "counts": report.counts()}
    return json.dumps(head | {"checks": checks}, indent=2)


def as_junit(report: Report) -> str:
    """Returns the report as JUnit's XML; a broken `should` is a skipped test there.

    What was not asked since the worker was given up is an error: nobody is to take it for a pass.
    """
    counts = report.counts()
    broken = sum(result.is_broken_must for result in report.results)
    suite = ET.Element(
        "testsuite",
        name=f"rhapsode-conform {_plain(report.target)}",
        tests=str(len(report.results)),
        failures=str(broken),
        errors=str(report.unasked),
        skipped=str(len(report.results) - broken - report.unasked - counts[Verdict.PASSED]),
        time=f"{sum(result.seconds for result in report.results):.3f}",
    )
    for result in report.results:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=result.check.family,
            name=result.check.id,
            time=f"{result.seconds:.3f}",
        )
        if result.outcome.verdict is not Verdict.PASSED:
            ET.SubElement(case, _kind(result), message=_plain(_line(result))).text = _plain(
                result.outcome.seen
            )
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)


def _kind(result: Result) -> str:
    """Returns what JUnit calls a check that did not pass."""
    if result.is_unasked:
        return "error"
    return "failure" if result.is_broken_must else "skipped"


def _plain(text: str) -> str:
    """Returns `text` without what XML cannot hold: a worker may say anything."""
    return "".join(character if character.isprintable() else "�" for character in text)


def list_checks(console: Console, checks: tuple[Check, ...]) -> None:
    """Writes every check with its level and what it needs."""
    for check in checks:
        line = Text(f"{check.id:<{_ID_WIDTH}} ", style="bold")
        line.append(f"{check.promise.level:<6} {check.family:<20} {check.promise.text}")
        if check.needs:
            line.append(f" (needs {', '.join(check.needs)})", style="dim")
        console.print(line, soft_wrap=True)
