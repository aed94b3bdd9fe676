"""An engine onto a server, with its licences shown first, watched to its end."""

import sys
from typing import Final

import typer
from rhapsode_contract import CatalogEntry, InstallJob, Progress
from rich.console import Console
from rich.prompt import Confirm

from rhapsode.cli.api_client import CallFailed
from rhapsode.cli.job_view import JobView
from rhapsode.cli.management_client import ManagementClient

DEFAULT_ENGINE: Final = "hibari"
"""What a server gets that has nothing: small, on any CPU, its weights in its package."""

_COMMERCIAL: Final = {True: "commercial use allowed", False: "no commercial use"}


def install_engine(
    client: ManagementClient,
    engine: str,
    console: Console,
    *,
    variant: str | None = None,
    pulls: bool = True,
    is_accepted: bool = False,
) -> CatalogEntry:
    """Installs an engine and returns once it is in service.

    Args:
        client: Of the server.
        engine: Its id.
        console: Shown the licences, and what happens.
        variant: Whose weights to get; the engine's default where None.
        pulls: Whether to get weights at all.
        is_accepted: Whether its licences are accepted; else somebody at the terminal is asked where
            they have to be.

    Raises:
        CallFailed: It was refused, or failed.
        Exit: Somebody had enough of watching.
    """
    entry = _entry(client, engine)
    _show(entry, console)
    accepted = _accepted(entry, is_given=is_accepted)
    wanted = (variant or entry.default_variant) if pulls else None
    job = client.install(entry.id, pull=wanted, accept=accepted)
    last, why = _watched(client, job, console)
    if last.status == "failed" and last.phase == "weights":
        # The engine itself stays, as the contract has it (§ 10).
        raise CallFailed(
            f"failed at weights: {why}; the engine is installed: its weights come with its first"
            f" speech, or with POST /engines/{entry.id}/pull"
        )
    if last.status == "failed":
        raise CallFailed(f"failed at {last.phase}: {why}")
    return entry


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
