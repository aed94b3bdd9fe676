"""Voice ids of requests, held against the voices an engine has."""

import difflib
from collections.abc import Iterable
from typing import Final, cast

from rhapsode_contract import BadRequest, UnknownVoice, Voice, check_voice_id
from rhapsode_contract.quoting import shown, there_are

_NAMED_VOICES: Final = 5


def check_voice(voice_id: str, voices: Iterable[Voice], field: str = "voice") -> None:
    """Holds a well-formed id against `voices`; none is ever put in its place (contract § 7).

    Raises:
        UnknownVoice: There is none of that id; the message lists near ones.
    """
    known = [voice.id for voice in voices]
    if voice_id in known:
        return
    raise UnknownVoice(f"{field}: there is no {voice_id!r}; {_hint(voice_id, known)}", field=field)


def checked_voices(told: object) -> tuple[list[Voice], list[str]]:
    """Parts what `voices()` gave into the voices that can be offered and what is wrong.

    A voice that breaks contract § 7 (an id that no request may name, an id twice, an empty `spec`)
    is the adapter's fault; the others speak all the same, so it alone is left out. Of two with
    one id the first stays.

    Raises:
        TypeError: It is no list of voices.
    """
    if not isinstance(told, Iterable):
        raise TypeError(f"voices() gave {type(told).__name__}, not a list of Voice")
    kept: dict[str, Voice] = {}
    wrong: list[str] = []
    for voice in cast("Iterable[object]", told):
        if not isinstance(voice, Voice):
            raise TypeError(f"voices() gave a list of {type(voice).__name__}, not of Voice")
        if not _is_voice_id(voice.id):
            wrong.append(f"{shown(voice.id)} is no voice id")
        elif voice.id in kept:
            wrong.append(f"{shown(voice.id)} is there twice")
        elif not voice.spec:
            wrong.append(f"{shown(voice.id)} has an empty spec")
        else:
            kept[voice.id] = voice
    return list(kept.values()), wrong


def _is_voice_id(text: str) -> bool:
    try:
        check_voice_id(text)
    except BadRequest:
        return False
    return True


def _hint(voice_id: str, known: list[str]) -> str:
    """Returns which voices there are, the most alike first, and how many are not named."""
    if not known:
        return "this engine has no voices"
    alike = difflib.get_close_matches(voice_id, known, n=_NAMED_VOICES, cutoff=0.5)
    return there_are([*alike, *(name for name in known if name not in alike)], _NAMED_VOICES)
