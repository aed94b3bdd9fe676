"""A text as a person would read it aloud: pure functions, a kind of writing each."""

from rhapsode_engine_hibari.reading.sentences import sentences_of

__all__ = ["sentences_of"]
