"""What an engine's process is wanted for that takes no place on the card."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio
from rhapsode_contract import ModelUnavailable


class CutShort(ModelUnavailable):
    """The process had to go: another engine needed its room, or an operator ended it."""


class Visits:
    """Uploads of voices and fetches of weights, while they last."""

    def __init__(self) -> None:
        self._scopes: dict[str, set[anyio.CancelScope]] = {}

    def __contains__(self, engine: object) -> bool:
        return engine in self._scopes

    @contextmanager
    def visit(self, engine: str) -> Generator[None]:
        """Counts the block as one of an engine's.

        Raises:
            CutShort: It was cut short.
        """
        scopes = self._scopes.setdefault(engine, set())
        with anyio.CancelScope() as scope:
            scopes.add(scope)
            try:
                yield
            finally:
                scopes.remove(scope)
                if not scopes and self._scopes.get(engine) is scopes:
                    del self._scopes[engine]
        if scope.cancelled_caught:
            raise CutShort(
                f"the process of {engine!r} had to go meanwhile: another engine needed the room, or"
                " an operator ended it"
            )

    def cut(self, engine: str) -> None:
        """Cuts those of an engine short, so that nobody waits for them (§§ 3, 7)."""
        for scope in self._scopes.get(engine, ()):
            scope.cancel()
