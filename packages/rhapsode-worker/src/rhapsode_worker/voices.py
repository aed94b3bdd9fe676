"""Voice ids of requests, held against the voices an engine has."""

import difflib
from collections.abc import Iterable
from typing import Final

from rhapsode_contract import UnknownVoice, Voice

_NEAR_VOICES: Final = 3


def check_voice(voice_id: str, voices: Iterable[Voice], field: str = "voice") -> None:
    """Holds a well-formed id against `voices`; none is ever put in its place (contract § 7).

    Raises:
        UnknownVoice: There is none of that id; the message lists near ones.
    """
    known = [voice.id for voice in voices]
    if voice_id in known:
        return
    near = difflib.get_close_matches(voice_id, known, n=_NEAR_VOICES, cutoff=0.5)
    named = (near or known)[:_NEAR_VOICES]
    hint = f"there are {', '.join(named)}" if named else "this engine has none"
    more = " and others" if len(known) > len(named) else ""
    raise UnknownVoice(f"{field}: there is no {voice_id!r}; {hint}{more}", field=field)
