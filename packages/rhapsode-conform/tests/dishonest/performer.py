"""How the raw worker speaks: each thing that is claimed is a tone of its own, or is not where it
lies."""

from array import array
from itertools import count
from typing import Final

from . import tones
from .declared import DITHERED, FOUR_SPEAKERS, HEARD, MORE, SHORT, SPEAKERS, VOICES, Breaks, is_odd
from .raw_voices import RawVoices
from .requests import Checker, Said

_CUT_CHARACTERS: Final = {
    "6.speak.whole": 100,
    "6.speak.whole: but for the end": 500,
    "6.speak.whole: without a seed": 100,
}
UNSTEADY: Final = "unsteady when short"
"""What is told to a worker to read short texts otherwise each time, which it may."""
_SHORT_CHARACTERS: Final = 15
_WITHOUT_A_SEED: Final = (
    "2.stop.finishes: cut, without a seed",
    "6.seed.reproduces",
    "6.speak.whole: without a seed",
)


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
        if self._is_unsteady() or self._breaks(UNSTEADY):
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
        cues = cues and not self._is_deaf_to_cues(said, text)
        dials = dials and self._turns(said, voice)
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
        hertz = self._hertz(voice, said, text)
        if self._is_unsteady() or (self._breaks(UNSTEADY) and len(text) < _SHORT_CHARACTERS):
            hertz += seed * 17 % 100
        loudness = (0.1 if is_quiet else 0.5) * self._voices.loudness_of(voice)
        pcm = tones.tone(hertz, loudness, milliseconds, seed)
        cue = tones.tone(tones.CUE_HERTZ, 0.5, tones.MS_PER_CUE)
        return pcm + cue * len(performed)

    def _is_unsteady(self) -> bool:
        return any(self._breaks(each) for each in _WITHOUT_A_SEED)

    def _performs(self, promise: str, variant: str) -> bool:
        if variant == MORE and self._breaks(f"{promise}: another variant"):
            return False
        oddly = (f"{promise}: {odd}" for odd in (DITHERED, *SHORT))
        return not any(self._breaks(flaw) for flaw in (promise, *oddly))

    def _hertz(self, voice: str | None, said: Said, text: str) -> int:
        """Returns how high a voice is; French is read a fifth up."""
        hertz = self._voices.hertz_of(voice)
        first, *others = self._checker.variants[said.variant]["languages"] or ["en"]
        language = said.fields.get("language", first)
        if "language" not in said.fields and self._breaks("6.language.default"):
            language = next(iter(others), first)
        if "turns" in said.fields and self._breaks("6.dialogue.as-speak: language unheard"):
            language = first
        if language == "auto":
            language = "fr" if "pleuvoir" in text else "en"
        is_french = language == "fr" and not self._breaks("6.language.chosen")
        return hertz * 3 // 2 if is_french else hertz

    def _turns(self, said: Said, voice: str | None) -> bool:
        """Whether a dial is turned here."""
        if self._breaks("a dial for a delivery alone"):
            return "delivery" in said.fields
        if self._breaks("a dial for made voices alone"):
            return voice is not None and voice not in VOICES
        return not ("turns" in said.fields and self._breaks("6.dialogue.as-speak: dials unheard"))

    def _is_deaf_to_cues(self, said: Said, text: str) -> bool:
        """Whether a line of a dialogue is read without its cues."""
        if "turns" not in said.fields:
            return False
        is_first = text == said.lines[0][1]
        return self._breaks("6.dialogue.cues") or (
            self._breaks("6.dialogue.cues: in the first turn alone") and not is_first
        )
