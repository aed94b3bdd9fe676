"""The `rhapsode-conform` command."""

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import anyio
import typer
from rich.console import Console

from rhapsode_conform.check import Check
from rhapsode_conform.checks import CHECKS
from rhapsode_conform.ended import Ended, until_ended
from rhapsode_conform.first_look import Unreachable
from rhapsode_conform.junit_file import NotWritable, junit_file
from rhapsode_conform.patience import Patience
from rhapsode_conform.report import PeopleReport, as_json, as_junit, list_checks
from rhapsode_conform.result import Report, Result
from rhapsode_conform.runner import Options, check_worker
from rhapsode_conform.selection import NoCheck, select
from rhapsode_conform.target import NoTarget, Target, parse_target
from rhapsode_conform.texts import NoText, Texts

CONFORMS: Final = 0
BROKEN: Final = 1
NO_VERDICT: Final = 2
"""The worker cannot be reached or was given up, no check was run, or the command line makes no
sense."""

app = typer.Typer(
    name="rhapsode-conform",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def conform(
    context: typer.Context,
    worker: Annotated[
        list[str] | None,
        typer.Argument(
            help="unix:/path, tcp:host:port, http://host:port, or -- and a command that starts it.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Run these alone: an id, its beginning, a family.")
    ] = None,
    skip: Annotated[list[str] | None, typer.Option(help="Leave these out.")] = None,
    variant: Annotated[str | None, typer.Option(help="Look at this variant alone.")] = None,
    text: Annotated[
        str | None, typer.Option(help="Have this spoken, in the worker's own language.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="The engine's id, which a worker we start is told.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="The bearer token of a worker on the network.")
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(help="Seconds that a start, or one check, may take.", min=1),
    ] = Patience.check_seconds,
    is_json: Annotated[bool, typer.Option("--json", help="Write JSON instead.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit's XML to this file.")] = None,
    is_list: Annotated[bool, typer.Option("--list", help="List the checks and stop.")] = False,
) -> None:
    """Holds a speech worker, in any language, against the Rhapsode worker protocol.

    Exits with 0 if it conforms, 1 if it breaks a promise that must be kept, 2 if there is no
    verdict.
    """
    try:
        checks = select(CHECKS, only=only or (), skip=skip or ())
        if is_list:
            list_checks(Console(), checks)
            return
        target = parse_target(worker or [], context.obj, engine=engine)
        texts = Texts(text)
    except (NoCheck, NoTarget, NoText) as error:
        raise _no_verdict(error) from None
    options = Options(
        patience=Patience(check_seconds=timeout, start_seconds=timeout),
        variant=variant,
        texts=texts,
        token=token,
        environment=_environment(),
    )
    try:
        with junit_file(junit) if junit else nullcontext() as write:
            report = _run(target, options, checks, is_json=is_json)
            if write:
                write(as_junit(report))
    except (Unreachable, Ended, NotWritable) as error:
        raise _no_verdict(error) from None
    if not report.was_checked:
        raise _no_verdict(NoCheck("no check was run: each was skipped"))
    if report.unasked and not report.is_broken:
        why = f"{report.unasked} checks were not made, since those before were not settled in time"
        raise _no_verdict(NoCheck(f"{why}; a slower worker may need a longer --timeout"))
    raise typer.Exit(CONFORMS if report.conforms else BROKEN)


def _run(target: Target, options: Options, checks: tuple[Check, ...], *, is_json: bool) -> Report:
    """Runs the checks and writes what they came to on standard output.

    Raises:
        Unreachable: There is no worker.
        Ended: SIGTERM came.
    """
    people = None if is_json else PeopleReport(Console(highlight=False))
    tell = people.tell if people else _nothing
    work = partial(check_worker, target, options, checks, tell=tell)
    report = anyio.run(until_ended, work, backend_options={"use_uvloop": True})
    if people:
        people.close(report)
    else:
        typer.echo(as_json(report))
    return report


def _nothing(_: Result) -> None:
    """Tells nobody: the whole report comes at the end."""


def _environment() -> dict[str, str]:
    """Returns what a spawned worker inherits: all but the protocol's own variables."""
    inherited = os.environ  # noqa: TID251 (the command line is where it may be read)
    return {k: v for k, v in inherited.items() if not k.startswith("RHAPSODE_WORKER_")}


def _no_verdict(error: Exception) -> typer.Exit:
    typer.echo(f"rhapsode-conform: {error}", err=True)
    return typer.Exit(NO_VERDICT)


def main(words: Sequence[str] | None = None) -> None:
    """Runs the command.

    Args:
        words: Of the command line; the process's own where None.
    """
    given = list(sys.argv[1:] if words is None else words)
    # Parted here: the parser takes `--` away, and with it what tells a command from an address.
    at = given.index("--") if "--" in given else len(given)
    command = given[at + 1 :] if "--" in given else None
    app(args=given[:at], obj=command)
