"""A worker process that nobody supervises, the way to talk to it, and what it holds."""

import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.lowlevel
from rhapsode_conform.answer import Answer
from rhapsode_conform.form import FORM_TYPE, File, form
from rhapsode_conform.spawned import Spawned, Start, spawned
from rhapsode_conform.wire import Wire
from rhapsode_http import UnixAddress

ADAPTERS: Final = Path(__file__).with_name("adapters")
SECONDS: Final = 60
"""A bound on the whole life of a worker; hardly one takes a tenth of it."""
MS_PER_CHARACTER: Final = 60
"""What the tone engine makes of a character."""


@dataclass(frozen=True)
class Alone:
    """A worker that runs."""

    spawned: Spawned
    wire: Wire

    @property
    def pid(self) -> int:
        return self.spawned.process.pid

    async def speak(self, **fields: object) -> Answer:
        """Has it speak, as PCM in its own default way unless `fields` say otherwise."""
        return await self.wire.post("/speak", {"text": "Hello there.", "format": "pcm", **fields})

    async def make_voice(self, **parts: str | File) -> Answer:
        """Sends the form that makes a voice."""
        return await self.wire.send("POST", "/voices", form(**parts), FORM_TYPE)

    async def voices(self) -> set[str]:
        """The ids that it lists."""
        return {voice["id"] for voice in (await self.wire.get("/voices")).json}

    async def health(self) -> dict[str, Any]:
        """What it says of itself."""
        return (await self.wire.get("/health")).object

    async def says(self, text: str) -> None:
        """Waits until its log holds a text."""
        await until(lambda: text.encode() in self.spawned.stderr)

    def open_files(self) -> int:
        """How many files and sockets the process holds."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def threads(self) -> int:
        """How many threads the process has."""
        return len(list(Path(f"/proc/{self.pid}/task").iterdir()))

    def children(self) -> set[int]:
        """The processes that it started itself."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/children")
        return {int(child) for task in tasks for child in task.read_text("utf-8").split()}

    def resident_bytes(self) -> int:
        """The memory that the process holds, shared pages included."""
        for line in Path(f"/proc/{self.pid}/status").read_text("utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("a living process has resident memory")


@asynccontextmanager
async def alone(
    folder: Path,
    *flags: str,
    adapter: str = "tone",
    environment: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> AsyncGenerator[Alone]:
    """Runs a worker on a Unix socket in `folder`, its voices and temporary files there too.

    Args:
        folder: With a short path, as a socket's has to be.
        flags: How the tone engine is to misbehave.
        adapter: The tone engine, or one of `adapters`.
        environment: Variables besides.
        seconds: The most that the block may take.
    """
    is_tone = adapter == "tone"
    program = ("-m", "rhapsode_engine_tone") if is_tone else (str(ADAPTERS / f"{adapter}.py"),)
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    address = UnixAddress(folder / "w" / "w.sock")
    start = Start(
        (sys.executable, *program),
        {
            "RHAPSODE_TONE_MISBEHAVE": ",".join(flags),
            "RHAPSODE_VOICE_DIR": str(folder / "voices"),
            "TMPDIR": str(temporary),
            **(environment or {}),
        },
        address,
        adapter,
    )
    with anyio.fail_after(seconds):
        async with spawned(start) as process:
            assert process.handshake, process.last_words
            wire = Wire(address)
            try:
                yield Alone(process, wire)
            finally:
                with anyio.CancelScope(shield=True):  # an abort is over within a turn of the loop
                    await wire.aclose()


async def until(condition: Callable[[], bool]) -> None:
    """Waits until something is so; the deadline of `alone` bounds it."""
    while not condition():
        await anyio.lowlevel.checkpoint()


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended: one that nobody has reaped yet has."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
