"""eSpeak NG's library, asked for phonemes and for nothing else.

The only module that loads it, through ctypes: of its hundred functions three are needed, and the
package that wraps them brings four others and a copy of the library for every wrapper.
"""

import ctypes
import textwrap
import threading
from collections.abc import Iterator
from functools import cache
from typing import Final

# It has no types of its own.
from espeakng_loader import (  # pyright: ignore[reportMissingTypeStubs]
    get_data_path,
    get_library_path,
)

TIE: Final = "\u0361"
"""Stands between the letters of one phoneme, `t͡ʃ`."""

# Of its header, speak_lib.h.
_RETRIEVAL: Final = 1  # sound, if there were any, would be handed back and not played
_DONT_EXIT: Final = 0x8000  # without its data it would end the process
_UTF8: Final = 1
_IPA_WITH_TIES: Final = 0x02 | 1 << 7 | ord(TIE) << 8

_MOST_CHARACTERS: Final = 160
"""In one call. Its buffers are of 800 bytes and letters with stops between them grow in there; from
370 characters of `a.a.a.` on it wrote past their end."""

_one_at_a_time: Final = threading.Lock()
"""The library has one state for the whole process; two callers would get each other's words."""


def phonemes_in(text: str, voice: str) -> str:
    """Returns the phonemes of `text` in IPA, with `TIE`; words are apart by a space.

    Any thread may call this. Punctuation is not in what is returned. Where the voice leaves a word
    to that of another language, the word is between `(en)` and `(es)`.

    Args:
        text: Without NUL, and without words that no person would write: it is not safe from those.
        voice: By eSpeak's name, such as `pt-br`.

    Raises:
        OSError: The library cannot be loaded.
        ValueError: It has no such voice.
        RuntimeError: It cannot find its data.
    """
    with _one_at_a_time:
        library = _library()
        if library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise ValueError(f"eSpeak NG has no voice {voice!r}")
        pieces = textwrap.wrap(text, _MOST_CHARACTERS, break_on_hyphens=False)
        return " ".join(clause for piece in pieces for clause in _clauses(library, piece))


def _clauses(library: ctypes.CDLL, text: str) -> Iterator[str]:
    """Yields what each call returns: a clause, past which it moves the pointer."""
    rest = ctypes.c_char_p(text.encode())
    while rest.value is not None:
        clause: bytes | None = library.espeak_TextToPhonemes(
            ctypes.byref(rest), _UTF8, _IPA_WITH_TIES
        )
        if clause:
            yield clause.decode()


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(get_library_path()))
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    data = str(get_data_path())
    # Returns the rate of the sound: 0 where there is no data, less than nothing where it is wrong.
    if library.espeak_Initialize(_RETRIEVAL, 0, data.encode(), _DONT_EXIT) <= 0:
        raise RuntimeError(f"eSpeak NG cannot use its data in {data}; its limit is 159 characters")
    return library
