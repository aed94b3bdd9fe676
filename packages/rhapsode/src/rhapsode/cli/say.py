"""`rhapsode say`: a text to this machine's loudspeaker, or to a file."""

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import ValidationError
from rhapsode_contract import FORMATS, PublicSpeakRequest
from rich.console import Console

from rhapsode.cli.destination import Destination, Loudspeaker, NamedFile, StandardOutput, deliver
from rhapsode.cli.player import find_player, has_audio_device
from rhapsode.cli.speech_client import DEFAULT_URL, CallFailed, SpeechClient

_STDIO: Final = "-"
_SUFFIXES: Final = {f".{name}": name for name in FORMATS} | {".ogg": "opus", ".raw": "pcm"}


def say(
    text: Annotated[
        str | None,
        typer.Argument(help="What to say. Left out, or -: read from standard input."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write there; - is standard output."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option("--engine", "-e", help="Default: the first that the server lists."),
    ] = None,
    voice: Annotated[
        str | None, typer.Option("--voice", "-v", help="Default: the engine's own.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", help="Default: the loaded one, else the engine's.")
    ] = None,
    audio_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="|".join(FORMATS),
            help="Default: by the name of FILE, else wav.",
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="Default: the variant's first.")
    ] = None,
    delivery: Annotated[
        str | None, typer.Option("--delivery", metavar="hushed|frantic", help="Default: neither.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="The same seed gives the same audio.")
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="A dial, such as speed=1.2."),
    ] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Send audio while it is made. Default: to play it, not to keep it.",
        ),
    ] = None,
    url: Annotated[
        str, typer.Option("--url", envvar="RHAPSODE_URL", help="The server's.")
    ] = DEFAULT_URL,
) -> None:
    """Say a text: play it, or write it to a file.

    Without --output it is played through ffplay, aplay or afplay.
    Where none of them is installed, or there is no sound card, it
    goes to speech.wav (or .mp3, or …) in this folder.
    """
    chosen_format = audio_format or _format_of(output)
    dials = _dials(param or [])
    spoken = _text(text)
    destination = _destination(output, chosen_format)
    is_played = isinstance(destination, Loudspeaker)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with closing(SpeechClient(url)) as client:
            request = _request(
                text=spoken,
                engine=engine or _first_engine(client, console),
                voice=voice,
                variant=variant,
                format=chosen_format,
                language=language,
                delivery=delivery,
                seed=seed,
                params=dials or None,
                stream=is_played if stream is None else stream,
            )
            deliver(client, request, destination, console)
    except CallFailed as error:
        console.print(f"rhapsode say: {error}", markup=False)
        raise typer.Exit(1) from None
    except OSError as error:
        console.print(f"rhapsode say: {error.filename or output}: {error.strerror}", markup=False)
        raise typer.Exit(1) from None


def _text(argument: str | None) -> str:
    if argument is not None and argument != _STDIO:
        return argument
    if argument is None and sys.stdin.isatty():
        raise typer.BadParameter('nothing to say; try: rhapsode say "Hello."')
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"standard input is not UTF-8 (byte {error.start})") from None


def _format_of(output: str | None) -> str:
    return _SUFFIXES.get(Path(output or "").suffix.lower(), "wav")


def _destination(output: str | None, audio_format: str) -> Destination:
    if output == _STDIO:
        if sys.stdout.isatty():
            raise typer.BadParameter("audio would garble the terminal; send -o - into a pipe")
        return StandardOutput()
    if output is not None:
        return NamedFile(Path(output))
    fallback = Path(f"speech.{audio_format}")
    player = find_player(audio_format, has_audio_device(os.environ))
    return Loudspeaker(player, fallback) if player else NamedFile(fallback)


def _dials(params: list[str]) -> dict[str, str]:
    """Returns the dials as they were written; the request's shape says which are numbers."""
    found: dict[str, str] = {}
    for param in params:
        name, equals, text = param.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{param!r} is not NAME=VALUE", param_hint="--param")
        found[name] = text
    return found


def _first_engine(client: SpeechClient, console: Console) -> str:
    engines = client.engines()
    if not engines:
        raise CallFailed("the server has no engine yet")
    working = [engine for engine in engines if engine.process != "failed"]
    chosen = (working or engines)[0]
    others = f", the first of {len(engines)}" if len(engines) > 1 else ""
    console.print(f"engine: {chosen.id}{others}", markup=False)
    return chosen.id


def _request(**fields: object) -> PublicSpeakRequest:
    for name, value in fields.items():
        # A byte of the command line that is no UTF-8 is half of a character here.
        if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
            raise typer.BadParameter(f"{name}: this is not UTF-8")
    try:
        return PublicSpeakRequest.model_validate(fields)
    except ValidationError as failure:
        first = failure.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise typer.BadParameter(f"{name}: {first['msg']}") from None
