"""`rhapsode install`: an engine onto the server, watched to its end."""

import sys
from contextlib import closing
from typing import Annotated, Final

import typer
from rhapsode_contract import CatalogEntry, InstallJob, Progress
from rich.console import Console
from rich.prompt import Confirm

from rhapsode.cli.api_client import DEFAULT_URL, CallFailed
from rhapsode.cli.job_view import JobView
from rhapsode.cli.management_client import ManagementClient

_COMMERCIAL: Final = {True: "commercial use allowed", False: "no commercial use"}


def install(
    engine: Annotated[str, typer.Argument(help="Its id, such as hibari. A wrong one lists all.")],
    variant: Annotated[
        str | None,
        typer.Option("--variant", help="Whose weights to get. Default: the engine's default."),
    ] = None,
    pull: Annotated[
        bool,
        typer.Option("--pull/--no-pull", help="Get weights now, or with the first speech."),
    ] = True,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="I have read the licences and accept them: do not ask."),
    ] = False,
    url: Annotated[
        str, typer.Option("--url", envvar="RHAPSODE_URL", help="The server's.")
    ] = DEFAULT_URL,
    token: Annotated[
        str | None,
        typer.Option(
            "--token", envvar="RHAPSODE_TOKEN", help="Of a server on another machine.", metavar="T"
        ),
    ] = None,
) -> None:
    """Install an engine: an environment of its own, its package, its weights.

    Both licences are shown first. Weights that are not for commercial
    use are only fetched once you have said yes to theirs.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if variant is not None and not pull:
        raise typer.BadParameter("--variant says whose weights to get, and --no-pull to get none")
    try:
        with closing(ManagementClient(url, token)) as client:
            entry = _entry(client, engine)
            _show(entry, console)
            accepted = _accepted(entry, is_given=yes)
            wanted = (variant or entry.default_variant) if pull else None
            job = client.install(entry.id, pull=wanted, accept=accepted)
            last, why = _watched(client, job, console)
    except CallFailed as error:
        console.print(f"rhapsode install: {error}", markup=False)
        raise typer.Exit(1) from None
    if last.status == "failed":
        console.print(f"rhapsode install: failed at {last.phase}: {why}", markup=False)
        raise typer.Exit(1)
    console.print(f'{entry.display_name} is installed; try: rhapsode say -e {entry.id} "Hello."')


def _entry(client: ManagementClient, engine: str) -> CatalogEntry:
    catalog = client.catalog()
    for entry in catalog:
        if entry.id == engine:
            return entry
    there = ", ".join(entry.id for entry in catalog) or "none"
    raise CallFailed(f"there is no engine {engine!r}; there are: {there}")


def _show(entry: CatalogEntry, console: Console) -> None:
    terms = entry.license
    console.print(f"{entry.display_name} ({entry.package})", markup=False)
    console.print(f"  code:    {terms.code}", markup=False)
    use = _COMMERCIAL[terms.weights_commercial_use]
    console.print(f"  weights: {terms.weights}, {use}", markup=False)
    if terms.notes:
        console.print(f"  {terms.notes}", markup=False)


def _accepted(entry: CatalogEntry, *, is_given: bool) -> str | None:
    """Returns the licence of the weights where somebody has to accept it and did."""
    terms = entry.license
    if terms.weights_commercial_use:
        return None
    if is_given:
        return terms.weights
    if not sys.stdin.isatty():
        raise CallFailed(
            f"the weights come under {terms.weights}, which allows no commercial use; with nobody"
            " to ask, --yes says that it is accepted"
        )
    if not Confirm.ask(f"Accept {terms.weights} for the weights?", default=False):
        raise CallFailed("not accepted, so nothing was installed")
    return terms.weights


def _watched(
    client: ManagementClient, job: InstallJob, console: Console
) -> tuple[Progress, str | None]:
    """Shows a job until it is over; returns how it ended, and why it failed where it did."""
    why: str | None = None
    last = Progress(phase="venv", status="failed")
    try:
        with JobView(console) as view:
            for event in client.events(job.id):
                view.show(event)
                why = event.message if event.kind == "error" else why
                last = event.progress or last
    except KeyboardInterrupt:
        console.print(f"the server goes on with job {job.id}; its log says how it ends")
        raise typer.Exit(130) from None
    except CallFailed as error:
        raise CallFailed(f"{error}; a job ends with its server, so install again then") from None
    return last, why
