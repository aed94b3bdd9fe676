"""Where the sentences of a text end."""

import logging
import re
from collections.abc import Callable
from typing import Final, cast

import sentencex  # pyright: ignore[reportMissingTypeStubs] - it ships none

from rhapsode_worker.segmenting.scripts import CLOSERS, ENDERS, OPENERS
from rhapsode_worker.segmenting.shadow import CUE_FILL

logger = logging.getLogger(__name__)

_segment = cast(
    Callable[[str, str], list[str]],
    sentencex.segment,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
)
_LANGUAGE_DEFAULT: Final = "en"

# Quotes and brackets are weighed by us: `sentencex` keeps whatever stands between two of them in
# one sentence, apostrophes included, and needs quadratic time where they never close. What ends a
# sentence in any language is found by us as well, where no space follows it too; the same holds
# for time. It is asked about what depends on the language: the full stop and its abbreviations.
# Blanks are all made the plain one: it takes one of several bytes before a full stop for one byte
# (1.0.32, `is_name_initial_for`), and panics.
_BLANKS: Final = (
    "\n\r\v\f\x85\u2028\u2029\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u202f\u205f\u3000"
)
_VEIL: Final = dict.fromkeys(map(ord, f"{OPENERS}{CLOSERS}{CUE_FILL}{_BLANKS}"), " ") | (
    dict.fromkeys(map(ord, ENDERS), "、")
)
# These begin with the character itself and then look behind it: so nothing else is tried.
_APOSTROPHE = re.compile(r"['’‘](?<=\w.)(?=\w)", re.DOTALL)
# What stands within a token ends no sentence here, nor may a veiled bracket make it seem so. Of a
# run of marks the last one says enough. Lone surrogates cannot be handed to it at all.
_AROUND: Final = f"{OPENERS}{CLOSERS}{CUE_FILL}"
_MARKS = re.compile(
    rf"[!?….\ud800-\udfff](?:(?<=[!?…])[!?…]*+(?=[{_AROUND}]*+(?P<within>[^\s{_AROUND}])?)"
    rf"|(?<=\.)(?=[{_AROUND}]++(?P<inside>\S))|(?<=[\ud800-\udfff])(?P<surrogate>))"
)

_OWN_END = re.compile(rf"[{ENDERS}][{ENDERS}.!?…]*[{CLOSERS}]*(?=\s|$)")
# Greek asks with a semicolon; nothing else tells it from the one that parts clauses.
_GREEK_QUESTION = re.compile(r";(?<=[\u0370-\u03ff\u1f00-\u1fff].)(?=\s|$)")
_REST_OF_TOKEN = re.compile(rf"[{CLOSERS}{CUE_FILL}]*(?=\s|$)")


def sentence_ends(shadow: str, language: str | None) -> set[int]:
    """Returns the indices right after each sentence and the quotes and brackets that close it.

    Args:
        shadow: A text whose cues are filled.
        language: A BCP 47 tag; only its first part is looked at. One that `sentencex` does not
            know is split by general rules.
    """
    ends = {match.end() for match in _OWN_END.finditer(shadow)}
    ends |= {match.end() for match in _GREEK_QUESTION.finditer(shadow)}
    at = 0
    for sentence in _sentences(_veiled(shadow), _subtag(language)):
        length = len(sentence.rstrip())
        rest = _REST_OF_TOKEN.match(shadow, at + length) if length else None
        at += len(sentence)
        if rest is not None:
            ends.add(rest.end())
    return ends


def _sentences(text: str, language: str) -> list[str]:
    try:
        return _segment(language, text)
    except BaseException as error:
        # A panic in its Rust is no `Exception`. A text is spoken nevertheless, with the ends that
        # are found here.
        if type(error).__name__ != "PanicException":
            raise
        logger.warning("the sentence segmenter panicked: %s", error)
        return []


def _veiled(shadow: str) -> str:
    return _MARKS.sub(_as_letters, _APOSTROPHE.sub("x", shadow)).translate(_VEIL)


def _as_letters(match: re.Match[str]) -> str:
    """Returns letters for marks that end no sentence, and for all but the last of the others."""
    marks = match[0]
    return "x" * len(marks) if match.lastgroup else "x" * (len(marks) - 1) + marks[-1]


def _subtag(language: str | None) -> str:
    return re.split("[-_]", language, maxsplit=1)[0].lower() if language else _LANGUAGE_DEFAULT
