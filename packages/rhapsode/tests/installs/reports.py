"""A report that keeps what it is told."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class KeptReport:
    """Keeps steps and lines, in order."""

    steps: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    heard: Callable[[str], None] | None = None
    """Called with each line as it comes."""

    def step(self, step: str) -> None:
        self.steps.append(step)

    def line(self, text: str, level: str = "info") -> None:
        self.lines.append(text)
        if self.heard is not None:
            self.heard(text)

    def bytes(self, received: int, total: int | None) -> None:
        raise AssertionError("nobody here counts bytes")

    @property
    def commands(self) -> list[str]:
        """The commands that were run, as they are told of."""
        return [line.removeprefix("$ ") for line in self.lines if line.startswith("$ ")]
