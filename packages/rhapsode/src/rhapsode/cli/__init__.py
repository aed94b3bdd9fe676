"""The `rhapsode` command. One file a subcommand."""

from typing import Annotated

import typer

from rhapsode.cli.install import install
from rhapsode.cli.say import say
from rhapsode.cli.serve import serve
from rhapsode.cli.standard_streams import open_missing
from rhapsode.version import VERSION

app = typer.Typer(
    name="rhapsode",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"rhapsode {VERSION}")
        raise typer.Exit


@app.callback()
def rhapsode(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Speech from text: one HTTP server, many engines, each in a process of its own."""
    open_missing()


app.command()(serve)
app.command()(say)
app.command()(install)
