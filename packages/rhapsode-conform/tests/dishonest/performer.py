"""How the raw worker speaks: each thing that is claimed is a tone of its own, or is not where it
lies."""

from array import array
from itertools import count
from typing import Final

from . import tones
from .declared import DITHERED, FOUR_SPEAKERS, HEARD, MORE, SHORT, SPEAKERS, Breaks, is_odd
from .raw_voices import RawVoices
from .requests import Checker, Said

_CUT_CHARACTERS: Final = {
    "6.speak.whole": 100,
    "6.speak.whole: but for the end": 500,
    "6.speak.whole: without a seed": 100,
}
_WITHOUT_A_SEED: Final = ("6.seed.reproduces", "6.speak.whole: without a seed")


class Performer:
    """Makes samples of requests that may be spoken."""

    def __init__(self, breaks: Breaks, checker: Checker, voices: RawVoices) -> None:
        """Has said nothing yet."""
        self._breaks = breaks
        self._checker = checker
        self._voices = voices
        self._takes = count(1)

    def pcm(self, said: Said, seed: int) -> bytes:
        """Returns a request's samples, line after line."""
        lines = said.lines
        if self._breaks("6.dialogue.every-turn"):
            lines = lines[:1]
        if self._breaks(FOUR_SPEAKERS):
            lines = lines[:2]
        if self._is_unsteady():
            seed = next(self._takes)
        pcm = b"".join(
            self._line(said, self._voice(said, number, voice), text, seed)
            for number, (voice, text) in enumerate(lines)
        )
        return self._dithered(pcm) if is_odd(self._breaks, DITHERED) else pcm

    def _dithered(self, pcm: bytes) -> bytes:
        """Returns the samples with the least bit of some turned, of others each time."""
        samples = array("h", pcm)
        for place in range(next(self._takes) % 97, len(samples), 97):
            samples[place] ^= 1
        return samples.tobytes()

    def _voice(self, said: Said, number: int, voice: str | None) -> str | None:
        is_deaf = any(self._breaks(each) for each in (SPEAKERS, f"{SPEAKERS}: {DITHERED}")) or (
            number > 0 and self._breaks(f"{SPEAKERS}: the first alone")
        )
        return None if "turns" in said.fields and is_deaf else voice

    def _line(self, said: Said, voice: str | None, text: str, seed: int) -> bytes:
        cues, delivery, dials = (self._performs(promise, said.variant) for promise in HEARD)
        text = self._checker.stripped(text, said.variant)
        performed = [
            cue for cue in self._checker.variants[said.variant]["cues"] if f"[{cue}]" in text
        ]
        if not cues:
            text = text.replace(" [laugh]", "")
            performed = []
        for flaw, most in _CUT_CHARACTERS.items():
            text = text[:most] if self._breaks(flaw) else text
        is_quiet = said.fields.get("delivery") is not None and delivery
        milliseconds = tones.MS_PER_CHARACTER * len(text) / (said.speed if dials else 1)
        hertz = self._hertz(voice, said.fields.get("language"))
        if self._is_unsteady():
            hertz += seed * 17 % 100
        pcm = tones.tone(hertz, 0.1 if is_quiet else 0.5, milliseconds, seed)
        cue = tones.tone(tones.CUE_HERTZ, 0.5, tones.MS_PER_CUE)
        return pcm + cue * len(performed)

    def _is_unsteady(self) -> bool:
        return any(self._breaks(each) for each in _WITHOUT_A_SEED)

    def _performs(self, promise: str, variant: str) -> bool:
        if variant == MORE and self._breaks(f"{promise}: another variant"):
            return False
        oddly = (f"{promise}: {odd}" for odd in (DITHERED, *SHORT))
        return not any(self._breaks(flaw) for flaw in (promise, *oddly))

    def _hertz(self, voice: str | None, language: str | None) -> int:
        """Returns how high a voice is; French is read a fifth up."""
        hertz = self._voices.hertz_of(voice)
        is_french = language == "fr" and not self._breaks("6.language.chosen")
        return hertz * 3 // 2 if is_french else hertz
