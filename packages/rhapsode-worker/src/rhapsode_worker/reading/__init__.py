"""A text as a person would read it aloud, English above all, for engines that speak phonemes.

Pure functions, a kind of writing each: from what somebody sent to sentences, and from a sentence's
phonemes to what a model is given in one go. How letters become phonemes is the engine's own.
"""

from rhapsode_worker.reading.abbreviations import with_last_words_kept
from rhapsode_worker.reading.breath import Breath, Ending, breaths_of
from rhapsode_worker.reading.sentences import sentences_of
from rhapsode_worker.reading.unknown_words import PartByPart

__all__ = ["Breath", "Ending", "PartByPart", "breaths_of", "sentences_of", "with_last_words_kept"]
