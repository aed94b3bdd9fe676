"""How much the model is given at once: a sentence, or as much of it as one breath holds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

MAX_PHONEMES: Final = 400
"""About 28 seconds of speech. The model was trained on sentences, and memory and the wait for the
first sound grow with the length."""

_CLAUSE_END = re.compile(r"(?<=[,;:.!?—…)”])\s+")
_SPACE = re.compile(r"\s+")
_SOUND = re.compile(r"[^\W\d_]")

Ending = Literal["sentence", "clause", "word"]


@dataclass(frozen=True)
class Breath:
    """What is synthesised in one go."""

    phonemes: str
    """Never empty, never punctuation alone."""

    ending: Ending
    """What it ends at, and so how long a pause follows."""


def breaths_of(phonemes: str, limit: int = MAX_PHONEMES) -> Iterator[Breath]:
    """Yields a sentence's phonemes in pieces of at most `limit`, cut where it hurts least.

    At the ends of clauses if those suffice, then between words; within a word as the last resort.
    """
    breaths = list(_packed(phonemes.strip(), limit))
    while breaths and not _SOUND.search(breaths[-1].phonemes):
        breaths.pop()
    for at, breath in enumerate(breaths):
        if _SOUND.search(breath.phonemes):
            is_last = at == len(breaths) - 1
            yield Breath(breath.phonemes, "sentence") if is_last else breath


def _packed(phonemes: str, limit: int) -> Iterator[Breath]:
    """Greedily: clauses while they fit, then words, then characters."""
    held = ""
    for clause in filter(None, _CLAUSE_END.split(phonemes)):
        if len(held) + 1 + len(clause) <= limit:
            held = f"{held} {clause}" if held else clause
            continue
        if held:
            yield Breath(held, "clause")
        *full, held = _filled(clause, limit)
        for part in full:
            yield Breath(part, "word")
    if held:
        yield Breath(held, "clause")


def _filled(clause: str, limit: int) -> list[str]:
    """Returns `clause` as lines of at most `limit`, broken between words; at least one."""
    lines: list[str] = [""]
    for word in _SPACE.split(clause):
        if lines[-1] and len(lines[-1]) + 1 + len(word) <= limit:
            lines[-1] += f" {word}"
        else:
            lines += [word[at : at + limit] for at in range(0, len(word), limit)]
    return list(filter(None, lines)) or [clause]
