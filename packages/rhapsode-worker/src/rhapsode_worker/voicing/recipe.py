"""A blend's recipe, `name(weight)+name(weight)` (contract § 7).

The syntax is Kokoro-FastAPI's. White space is allowed between its parts; a name given twice
counts with the sum of its weights, as it does there.
"""

import math
import re
from dataclasses import dataclass
from typing import Final, NoReturn

from rhapsode_contract import BadRequest, check_voice_id
from rhapsode_contract.quoting import shown

PARTS_LIMIT: Final = 64
"""Most names in one recipe; no engine we know ships more voices."""

# Each is read at one place and never again, so that reading takes linear time.
_NAME: Final = re.compile(r"[^\s+()]*")
_WEIGHT: Final = re.compile(r"[^()]*")
_NUMBER: Final = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPACE: Final = re.compile(r"\s*")


@dataclass(frozen=True)
class Recipe:
    """Which voices are mixed, and how much of each."""

    parts: tuple[tuple[str, float], ...]
    """Voice ids in the order they were first named, each once, and their weights: positive, and
    together 1."""

    @classmethod
    def parse(cls, text: str) -> "Recipe":
        """Reads a recipe. Whether the engine has its voices is for the caller to check.

        Raises:
            BadRequest: It is none; the message says at which character, counted from 1.
        """
        found = _Reader(text).parts()
        # Scaled by the largest before anything is added: the sum of two great numbers may be none.
        largest = max(weight for _, weight in found)
        weights: dict[str, float] = {}
        for name, weight in found:
            weights[name] = weights.get(name, 0.0) + weight / largest
        total = math.fsum(weights.values())
        parts = tuple((name, weight / total) for name, weight in weights.items())
        for name, share in parts:
            if not share > 0:
                raise BadRequest(
                    f"blend: the weight of {name} is nothing beside the others", field="blend"
                )
        return cls(parts)


class _Reader:
    """A text, and how far it has been read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def parts(self) -> list[tuple[str, float]]:
        """Returns names and weights, as they stand; at least one."""
        parts = [self._part()]
        while self._skips("+"):
            if len(parts) == PARTS_LIMIT:
                _refuse(self._at, f"a recipe has {PARTS_LIMIT} names at most")
            parts.append(self._part())
        if self._at < len(self._text):
            _refuse(self._at, f"a + or the end is wanted, not {shown(self._text[self._at])}")
        return parts

    def _part(self) -> tuple[str, float]:
        self._take(_SPACE)
        position = self._at
        name = self._take(_NAME)
        try:
            check_voice_id(name, field=f"blend, character {position + 1}")
        except BadRequest as refusal:
            raise BadRequest(refusal.message, field="blend") from None
        return name, self._weight() if self._skips("(") else 1.0

    def _weight(self) -> float:
        position = self._at
        text = self._take(_WEIGHT).strip()
        weight = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not 0 < weight < math.inf:
            _refuse(position, f"a weight is a positive number, not {shown(text)}")
        if not self._skips(")"):
            _refuse(self._at, "a ) is wanted after the weight")
        return weight

    def _skips(self, mark: str) -> bool:
        """Goes past white space, and past `mark` where it is next; returns whether it was."""
        self._take(_SPACE)
        is_next = self._text.startswith(mark, self._at)
        self._at += len(mark) if is_next else 0
        return is_next

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        assert found is not None  # every pattern that comes here matches the empty text
        self._at = found.end()
        return found.group()


def _refuse(position: int, why: str) -> NoReturn:
    raise BadRequest(f"blend, character {position + 1}: {why}", field="blend")
