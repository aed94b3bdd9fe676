"""Words that no lexicon has."""

from typing import Protocol


class Guess(Protocol):
    """A guess at how a word is said."""

    maxlen: int
    """As many letters as it looks at."""

    def __call__(self, word: str) -> str | None:
        """Returns phonemes, or None where it has no idea."""
        ...


class PartByPart:
    """A guess at words of any length: the longest ones part by part."""

    def __init__(self, guess: Guess) -> None:
        self._guess = guess

    def __call__(self, word: str) -> str:
        """Returns the phonemes of a word; empty where there is no guess."""
        parts = -(-len(word) // self._guess.maxlen)
        size = -(-len(word) // parts)
        spoken = [self._guess(word[at : at + size]) for at in range(0, len(word), size)]
        return "".join(filter(None, spoken))
