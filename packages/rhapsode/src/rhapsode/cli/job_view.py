"""A job as it happens, on a terminal: its steps, and the bytes of a download."""

from types import TracebackType
from typing import Any, Final, Self

from rhapsode_contract import JobEvent
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

_STEPS: Final = {
    "venv": "making its environment",
    "packages": "installing packages",
    "verify": "checking that it starts",
    "register": "putting it into service",
    "weights": "getting weights",
}


class JobView:
    """Shows one line a step, and a bar while bytes arrive; no bar where there is no terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("  "),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._bar: TaskID | None = None
        self._step: str | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def show(self, event: JobEvent) -> None:
        """Shows what is new in an event."""
        if event.progress is not None:
            self._show_step(event.progress.phase)
            self._show_bytes(event.data or {})
        elif event.kind == "status" and event.message:
            self._console.print(f"  {event.message}", markup=False)

    def _show_step(self, step: str) -> None:
        if step != self._step:
            self._step = step
            self._console.print(f"  {_STEPS.get(step, step)}", markup=False)

    def _show_bytes(self, data: dict[str, Any]) -> None:
        received, total = data.get("received"), data.get("total")
        if not isinstance(received, int):
            return
        size = total if isinstance(total, int) else None
        if self._bar is None:
            self._bar = self._progress.add_task("", total=size)
        self._progress.update(self._bar, completed=received, total=size)
