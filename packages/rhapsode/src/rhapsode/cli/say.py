"""`rhapsode say`: a text to this machine's loudspeaker, or to a file."""

import json
import math
import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final

import typer
from rhapsode_contract import FORMATS, BadRequest, PublicSpeakRequest, parse_request
from rich.console import Console

from rhapsode.cli.api_client import DEFAULT_URL, CallFailed
from rhapsode.cli.destination import Destination, Loudspeaker, NamedFile, StandardOutput, deliver
from rhapsode.cli.installing import DEFAULT_ENGINE, install_engine
from rhapsode.cli.management_client import ManagementClient
from rhapsode.cli.player import find_player, has_audio_device
from rhapsode.cli.speech_client import SpeechClient

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
        typer.Option(
            "--engine",
            "-e",
            help="Default: the first that the server lists; hibari is installed where it has none.",
        ),
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
            help="Default: by the ending of FILE; wav where it has none.",
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="Default: the variant's first.")
    ] = None,
    delivery: Annotated[
        str | None, typer.Option("--delivery", metavar="hushed|frantic", help="Default: neither.")
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="NUMBER", help="The same seed gives the same audio."),
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
    chosen_format = _format(output, audio_format)
    dials = _dials(param or [])
    seed_number = None if seed is None else _whole_number("seed", seed)
    spoken = _text(text)
    destination = _destination(output, chosen_format)
    is_played = isinstance(destination, Loudspeaker)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with closing(SpeechClient(url)) as client:
            request = _request(
                text=spoken,
                engine=engine or _first_engine(client, console) or _installed(url, console),
                voice=voice,
                variant=variant,
                format=chosen_format,
                language=language,
                delivery=delivery,
                seed=seed_number,
                params=dials or None,
                stream=is_played if stream is None else stream,
            )
            deliver(client, request, destination, console)
    except CallFailed as error:
        console.print(f"rhapsode say: {error}", markup=False)
        raise typer.Exit(1) from None
    except OSError as error:
        if output == _STDIO and isinstance(error, BrokenPipeError):
            # Who reads has enough: no fault. What a shell shows for a program that SIGPIPE ended.
            raise typer.Exit(128 + signal.SIGPIPE) from None
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


def _format(output: str | None, asked: str | None) -> str:
    """Returns the format to ask for: a file is to hold what its name says.

    Raises:
        BadParameter: The file's ending says nothing and no format is asked for, or it says
            another one.
    """
    suffix = Path(output or "").suffix
    named = _SUFFIXES.get(suffix.lower())
    if asked is None:
        if suffix and named is None:
            endings = ", ".join(_SUFFIXES)
            raise typer.BadParameter(
                f"{output}: {suffix} is no format's ending ({endings} are); use one of them, or"
                " say what the file is to hold with --format"
            )
        return named or "wav"
    if named is not None and named != asked:
        raise typer.BadParameter(
            f"{output}: a file that ends in {suffix} holds {named}, and --format says {asked}"
        )
    return asked


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


def _dials(params: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for param in params:
        name, equals, text = param.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{param!r} is not NAME=VALUE", param_hint="--param")
        found[name] = _number(name, text)
    return found


def _number(dial: str, text: str) -> float:
    try:
        number = float(_as_digits(text))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise typer.BadParameter(f"{dial}: {text!r} is not a number")
    return number


def _whole_number(option: str, text: str) -> int:
    try:
        return int(_as_digits(text))
    except ValueError:
        raise typer.BadParameter(f"{option}: {text!r} is not a whole number") from None


def _as_digits(text: str) -> str:
    # Python's own 1_000 is a number nowhere else.
    return text.replace("_", "?")


def _first_engine(client: SpeechClient, console: Console) -> str | None:
    """Returns the engine to speak with, or None where the server has none."""
    engines = client.engines()
    if not engines:
        return None
    working = [engine for engine in engines if engine.process != "failed"]
    chosen = (working or engines)[0]
    others = f", the first of {len(engines)}" if len(engines) > 1 else ""
    console.print(f"engine: {chosen.id}{others}", markup=False)
    return chosen.id


def _installed(url: str, console: Console) -> str:
    """Installs the default engine, and returns it."""
    console.print(f"the server has no engine yet; installing {DEFAULT_ENGINE}", markup=False)
    with closing(ManagementClient(url, os.environ.get("RHAPSODE_TOKEN"))) as client:
        return install_engine(client, DEFAULT_ENGINE, console).id


def _request(**fields: object) -> PublicSpeakRequest:
    given = {name: value for name, value in fields.items() if value is not None}
    for name, value in given.items():
        if not _is_unicode(value):
            raise typer.BadParameter(f"{name}: this is not UTF-8")
    try:
        # As the server reads it, and refused in the same words.
        return parse_request(PublicSpeakRequest, json.dumps(given))
    except BadRequest as error:
        raise typer.BadParameter(error.message) from None


def _is_unicode(value: object) -> bool:
    # A byte of the command line that is no UTF-8 is half of a character here.
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
