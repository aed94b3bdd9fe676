"""The voices of the release: who they are, as their names say it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

_LANGUAGES: Final = {
    "a": "en-US",
    "b": "en-GB",
    "e": "es",
    "f": "fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-BR",
    "z": "zh",
}
_GENDERS: Final = {"f": "female", "m": "male"}

LANGUAGE_NAMES: Final = {
    "en-US": "American English",
    "en-GB": "British English",
    "es": "Spanish",
    "fr": "French",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "pt-BR": "Brazilian Portuguese",
    "zh": "Chinese",
}

READABLE: Final = ("en-US", "en-GB")
"""The languages whose text this engine turns into phonemes; the default first. The others take
eSpeak, whose licence is the GPL, or dictionaries that no package here brings."""

_SPEAKERS: Final = {
    "af": "alloy aoede bella heart jessica kore nicole nova river sarah sky",
    "am": "adam echo eric fenrir liam michael onyx puck santa",
    "bf": "alice emma isabella lily",
    "bm": "daniel fable george lewis",
    "ef": "dora",
    "em": "alex santa",
    "ff": "siwis",
    "hf": "alpha beta",
    "hm": "omega psi",
    "if": "sara",
    "im": "nicola",
    "jf": "alpha gongitsune nezumi tebukuro",
    "jm": "kumo",
    "pf": "dora",
    "pm": "alex santa",
    "zf": "xiaobei xiaoni xiaoxiao xiaoyi",
    "zm": "yunjian yunxi yunxia yunyang",
}

NAMES: Final = tuple(
    f"{kind}_{speaker}" for kind, speakers in _SPEAKERS.items() for speaker in speakers.split()
)
"""Every voice of the release, in the order of the voices file."""

DEFAULT: Final = "af_heart"
"""The best of them, as their maker grades them."""


@dataclass(frozen=True)
class BuiltIn:
    """A voice of the release."""

    id: str

    @property
    def language(self) -> str:
        """BCP 47."""
        return _LANGUAGES[self.id[0]]

    @property
    def gender(self) -> str:
        """`female` or `male`."""
        return _GENDERS[self.id[1]]

    @property
    def label(self) -> str:
        """The name of the speaker."""
        return self.id[3:].capitalize()


def speakers(languages: Collection[str] = READABLE) -> dict[str, BuiltIn]:
    """Returns the voices that speak one of `languages`, by id, the default first."""
    built_in = [BuiltIn(name) for name in (DEFAULT, *NAMES)]
    return {voice.id: voice for voice in built_in if voice.language in languages}


def named_language(voice_id: str, languages: Collection[str] = READABLE) -> str | None:
    """Returns what a name says in the way of the release: `bf_v0emma` is British.

    Args:
        voice_id: Anything.
        languages: Those that are known here; of a voice of another, the name says nothing.
    """
    is_named_so = voice_id[1:2] in _GENDERS and voice_id[2:3] == "_"
    language = _LANGUAGES.get(voice_id[:1]) if is_named_so else None
    return language if language in languages else None
