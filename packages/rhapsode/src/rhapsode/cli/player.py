"""The sound of this machine: which player can be used, and playing through it."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from rhapsode_contract import FORMATS


@dataclass(frozen=True)
class Player:
    """A program that plays what it reads from its standard input."""

    name: str

    command: tuple[str, ...]

    formats: tuple[str, ...]
    """What it can read without being told the rate."""

    needs_file: bool = False
    """Whether it plays only a file, named after `command`."""


_CONTAINED: Final = tuple(name for name in FORMATS if name != "pcm")

PLAYERS: Final = (
    Player(
        "ffplay",
        ("ffplay", "-nodisp", "-autoexit", "-loglevel", "error", "-i", "-"),
        _CONTAINED,
    ),
    Player("aplay", ("aplay", "-q", "-"), ("wav",)),
    Player("afplay", ("afplay",), ("wav", "mp3", "flac"), needs_file=True),
)
"""In the order they are tried."""


def find_player(
    audio_format: str,
    has_device: bool,
    which: Callable[[str], str | None] = shutil.which,
) -> Player | None:
    """Returns the first player that is installed and reads the format, if sound can come out.

    `ffplay` ends with success on a machine that has no sound at all, so a player is no proof of
    a loudspeaker: `has_device` has to be asked first.
    """
    if not has_device:
        return None
    fits = (player for player in PLAYERS if audio_format in player.formats)
    return next((player for player in fits if which(player.command[0])), None)


def has_audio_device(
    environ: Mapping[str, str],
    platform: str = sys.platform,
    devices: Path = Path("/dev/snd"),
) -> bool:
    """Says whether this machine can make a sound, as far as can be seen without making one."""
    if platform == "darwin":
        return True
    if environ.get("PULSE_SERVER"):
        return True
    runtime = Path(environ.get("XDG_RUNTIME_DIR") or "/nonexistent")
    servers = (runtime / "pulse" / "native", runtime / "pipewire-0")
    if any(server.exists() for server in servers):
        return True
    return devices.is_dir() and any(devices.glob("pcm*p"))


class PlaybackFailed(Exception):
    """The player would not play; the message says how it ended."""


class Playback:
    """A player at work."""

    def __init__(self, player: Player, process: subprocess.Popen[bytes]) -> None:
        self._player = player
        self._process = process
        self._is_listening = True

    def feed(self, piece: bytes) -> None:
        """Gives the player more audio; waits while it has enough. A dead player is not fed."""
        if not self._is_listening:
            return
        pipe = _stdin(self._process)
        try:
            pipe.write(piece)
            pipe.flush()
        except BrokenPipeError:
            self._is_listening = False

    def finish(self) -> None:
        """Waits until all is played.

        Raises:
            PlaybackFailed: The player ended with an error.
        """
        with suppress(BrokenPipeError):
            _stdin(self._process).close()
        if code := self._process.wait():
            raise PlaybackFailed(f"{self._player.name} ended with exit code {code}")


@contextmanager
def playing(player: Player) -> Generator[Playback]:
    """Runs a player for the length of a block; it is stopped if the block ends early.

    Raises:
        PlaybackFailed: It cannot be started.
    """
    try:
        process = subprocess.Popen(
            player.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise PlaybackFailed(f"{player.name}: {error.strerror}") from None
    try:
        yield Playback(player, process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        with suppress(BrokenPipeError):
            _stdin(process).close()


def play_file(player: Player, path: Path) -> None:
    """Plays a file to its end.

    Raises:
        PlaybackFailed: The player could not be started, or ended with an error.
    """
    try:
        code = subprocess.call([*player.command, str(path)])
    except OSError as error:
        raise PlaybackFailed(f"{player.name}: {error.strerror}") from None
    if code:
        raise PlaybackFailed(f"{player.name} ended with exit code {code}")


def _stdin(process: subprocess.Popen[bytes]) -> BinaryIO:
    assert process.stdin is not None  # it was opened with a pipe
    return process.stdin  # type: ignore[return-value]  # typeshed says IO[bytes]
