"""From a sentence to the model's phonemes, by eSpeak NG.

The model was trained on what eSpeak NG writes, with a letter of its own for some of the phonemes
that IPA writes with two, and with the punctuation, which eSpeak NG leaves out.
"""

import re
import unicodedata
from typing import Final

from rhapsode_engine_kokoro.alphabet import NUMBERS
from rhapsode_worker.reading.words import with_words_bounded

from rhapsode_engine_kokoro_espeak.espeak import TIE, phonemes_in

VOICES: Final = {"es": "es", "fr": "fr", "hi": "hi", "it": "it", "pt-BR": "pt-br"}
"""eSpeak's name of each language."""

_LETTERS: Final = {
    f"{pair[0]}{TIE}{pair[1]}": letter
    for pair, letter in {
        "aɪ": "I",
        "aʊ": "W",
        "dz": "ʣ",
        "dʒ": "ʤ",
        "eɪ": "A",
        "oʊ": "O",
        "əʊ": "Q",
        "ss": "S",
        "ts": "ʦ",
        "tʃ": "ʧ",
        "ɔɪ": "Y",
    }.items()
}
_PAIR = re.compile("|".join(_LETTERS))

_SWITCH = re.compile(r"\([^()]*\)")
"""`(en)`: eSpeak's remark that a word is another language's. None of a text's own brackets get
to it."""

# A comma within a number is no mark, nor is a colon within a time or an address. Within a sentence
# a full stop is an abbreviation's or a number's: where sentences end has been decided before.
_MARK: Final = r"""[—…()“”"«»¡¿।॥] | ,(?!\d) | [;!?](?!\w) | :(?![\w/]) | \.{2,}
    | \.(?=[\s"”»)]*$) | (?<=\s)[-–]+(?=\s)"""
_MARKS = re.compile(rf"(\s?(?:(?:{_MARK})\s?)+)", re.VERBOSE)
_DOTS = re.compile(r"\.{2,}")
_AS_THE_MODEL_HAS_THEM: Final = str.maketrans(
    {"«": "“", "»": "”", "–": "—", "-": "—", "।": ".", "॥": ".", "¡": "", "¿": ""}
)
_SPACE_BEFORE = re.compile(r"\s+(?=[,;:.!?…”)])")
_NOT_FIRST: Final = ",;:.!?…—)” "

_LATIN: Final = r"A-Za-zªºÀ-ÖØ-öø-ɏ"
_OWN_LETTERS: Final = {"hi": "\u0900-\u097f"}
_SIGNS: Final = r"0-9\s$€£¥₹°%‰+×÷=<>&@#*/_'’.,:;!?()\"“”«»¿¡—–…½¼¾²³-"
_KNOWN: Final = {
    language: re.compile(rf"[{_LATIN}{_OWN_LETTERS.get(language, '')}{_SIGNS}]")
    for language in VOICES
}
"""What is let through to eSpeak, which has names for emoji, spells what it has no rules for, and
ends the process at some letters of other scripts, for example at a lone `ϖ` in Portuguese."""


_GLUED_CURRENCY = re.compile(r"([$€£¥₹])(?=-)")
"""`₹-नम` ends the process, in Hindi; apart, the two are read."""


class Pronunciation:
    """How one language is said."""

    def __init__(self, language: str) -> None:
        """Asks eSpeak for a word, so that what is not there is missed at the load.

        Args:
            language: A key of `VOICES`.

        Raises:
            OSError, RuntimeError, ValueError: As `phonemes_in`.
        """
        self._voice = VOICES[language]
        self._known = _KNOWN[language]
        phonemes_in("a", self._voice)

    def phonemes_of(self, sentence: str) -> str:
        """Returns the phonemes of a sentence, punctuation among them; empty if it has none.

        Args:
            sentence: Or a piece of one, without what eSpeak would take for a syntax of its own:
                `sentences_of` leaves none.
        """
        # A word with hundreds of endings, `s's's's`, would be written past the end of a buffer.
        said = with_words_bounded("".join(map(self._shown, sentence)))
        said = _GLUED_CURRENCY.sub(r"\1 ", said)
        # What `split` returns is words and marks by turns.
        words_and_marks = _MARKS.split(" ".join(said.split()))
        for at, part in enumerate(words_and_marks):
            words_and_marks[at] = _marks(part) if at % 2 else self._phonemes_in(part)
        return _SPACE_BEFORE.sub("", "".join(words_and_marks)).strip().lstrip(_NOT_FIRST)

    def _shown(self, character: str) -> str:
        """Returns a character, what it stands for if it is a form of others, or else a space."""
        if self._known.match(character):
            return character
        plain = unicodedata.normalize("NFKC", character)
        return plain if all(map(self._known.match, plain)) else " "

    def _phonemes_in(self, words: str) -> str:
        if not words or words.isspace():
            return ""
        phonemes = _SWITCH.sub("", phonemes_in(words, self._voice))
        phonemes = _PAIR.sub(lambda match: _LETTERS[match[0]], phonemes)
        return "".join(filter(NUMBERS.__contains__, phonemes)).strip()


def _marks(marks: str) -> str:
    """Returns punctuation as the model knows it; never nothing, since it stands between words."""
    return _DOTS.sub("…", marks).translate(_AS_THE_MODEL_HAS_THEM) or " "
