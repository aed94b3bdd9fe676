"""Voice ids of requests, held against the voices an engine has."""

import difflib
from collections.abc import Iterable
from typing import Final

from rhapsode_contract import UnknownVoice, Voice
from rhapsode_contract.quoting import there_are

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


def _hint(voice_id: str, known: list[str]) -> str:
    """Returns which voices there are, the most alike first, and how many are not named."""
    if not known:
        return "this engine has no voices"
    alike = difflib.get_close_matches(voice_id, known, n=_NAMED_VOICES, cutoff=0.5)
    return there_are([*alike, *(name for name in known if name not in alike)], _NAMED_VOICES)
