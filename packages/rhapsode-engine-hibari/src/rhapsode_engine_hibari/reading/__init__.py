"""A text as a person would read it aloud: pure functions, each with a kind of writing of its own."""

from rhapsode_engine_hibari.reading.sentences import sentences_of

__all__ = ["sentences_of"]
