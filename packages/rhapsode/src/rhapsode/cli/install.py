"""`rhapsode install`: an engine onto the server, watched to its end."""

from contextlib import closing
from typing import Annotated

import typer
from rich.console import Console

from rhapsode.cli.api_client import DEFAULT_URL, CallFailed
from rhapsode.cli.installing import install_engine
from rhapsode.cli.management_client import ManagementClient


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
            entry = install_engine(
                client, engine, console, variant=variant, pulls=pull, is_accepted=yes
            )
    except CallFailed as error:
        console.print(f"rhapsode install: {error}", markup=False)
        raise typer.Exit(1) from None
    # Another variant's weights are not here, or not yet.
    which = f" --variant {variant}" if variant is not None else ""
    console.print(
        f'{entry.display_name} is installed; try: rhapsode say -e {entry.id}{which} "Hello."'
    )
