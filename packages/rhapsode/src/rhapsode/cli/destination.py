"""Where spoken audio goes: a file, standard output, or this machine's loudspeaker."""

import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rhapsode_contract import PublicSpeakRequest
from rich.console import Console

from rhapsode.cli.arrival import Arrival, shown
from rhapsode.cli.audio_file import whole_file
from rhapsode.cli.player import Playback, PlaybackFailed, Player, play_file, playing
from rhapsode.cli.speech_client import SpeechClient
from rhapsode.cli.standard_streams import put


@dataclass(frozen=True)
class NamedFile:
    """A file that is written whole or not at all."""

    path: Path


@dataclass(frozen=True)
class StandardOutput:
    """A pipe to another program."""


@dataclass(frozen=True)
class Loudspeaker:
    """A player, and the file that gets the audio if it will not play."""

    player: Player

    fallback: Path


Destination = NamedFile | StandardOutput | Loudspeaker


def deliver(
    client: SpeechClient, request: PublicSpeakRequest, destination: Destination, console: Console
) -> None:
    """Asks for speech, brings it where it is to go, and says on the console how that went.

    Raises:
        CallFailed: There is no audio, or it broke off; no file is left.
        OSError: The file or standard output can't be written; its name is the `filename`.
    """
    asked_at = time.monotonic()
    with client.speak(request) as speech:
        arrival = Arrival(speech.content_type, asked_at, speech.duration_seconds)
        pieces = shown(speech.pieces, arrival, console, time.monotonic)
        match destination:
            case NamedFile(path):
                _keep(pieces, path)
                outcome = f"{path}: {arrival}"
            case StandardOutput():
                _pass_on(pieces)
                outcome = str(arrival)
            case Loudspeaker(player, fallback):
                failure = _play(pieces, player, fallback)
                where = f"{failure}; it is in {fallback}" if failure else f"played by {player.name}"
                outcome = f"{where}: {arrival}"
    console.print(outcome, markup=False)


def _keep(pieces: Iterable[bytes], path: Path) -> None:
    with whole_file(path) as file:
        file.writelines(pieces)


def _pass_on(pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        put(piece)


def _play(pieces: Iterator[bytes], player: Player, fallback: Path) -> PlaybackFailed | None:
    """Plays the audio as it comes; returns why it could not, once `fallback` holds it all."""
    with tempfile.TemporaryDirectory() as folder:
        # Kept until it is played, so that a player that gives up costs no second synthesis.
        kept = Path(folder) / fallback.name
        try:
            if player.needs_file:
                _keep(pieces, kept)
                play_file(player, kept)
            else:
                with playing(player) as playback:
                    _keep(_fed(pieces, playback), kept)
                    playback.finish()
        except PlaybackFailed as failure:
            if not kept.exists():
                _keep(pieces, kept)
            with whole_file(fallback) as file, kept.open("rb") as audio:
                shutil.copyfileobj(audio, file)
            return failure
        return None


def _fed(pieces: Iterable[bytes], playback: Playback) -> Iterator[bytes]:
    for piece in pieces:
        playback.feed(piece)
        yield piece
