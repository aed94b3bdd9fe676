"""What the raw worker asks of a request before it speaks."""

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, cast

from .declared import (
    CUES,
    GEORGIAN,
    NOT_IN_ENGLISH,
    Breaks,
    formats_of,
    limit_of,
    speakers_of,
)
from .refusal import Refusal

_VOICE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_CUE = re.compile(r" \[(?=[^]]*(?:[A-Z]|\s\s))([\sA-Za-z]+)\]")
"""What may be a cue, in capitals or with more white space than it needs."""
_SPEAK = {"text", "voice", "variant", "format", "language", "delivery", "params", "seed", "stream"}
_TALK = {"turns", "voices", "variant", "format", "language", "params", "seed", "stream"}
_IGNORED = {
    "6.dialogue.as-speak": "params",
    "6.dialogue.as-speak: format": "format",
    "6.dialogue.as-speak: language": "language",
    "6.dialogue.as-speak: stream": "stream",
}
"""What a dialogue leaves out of account, by the promise that this breaks."""
_KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "voice": (str,),
    "variant": (str,),
    "format": (str,),
    "language": (str,),
    "delivery": (str,),
    "params": (dict,),
    "seed": (int,),
    "stream": (bool,),
    "turns": (list,),
    "voices": (dict,),
}


@dataclass
class Said:
    """A request that may be spoken."""

    fields: dict[str, Any]

    variant: str

    format: str

    streams: bool

    speed: float = 1.0

    lines: list[tuple[str | None, str]] = field(default_factory=list[tuple[str | None, str]])
    """What is said, one after another: the voice, where one is given, and the text."""


@dataclass(frozen=True)
class Checker:
    """Holds requests against what is declared, but for the promise that is broken."""

    breaks: Breaks

    variants: dict[str, dict[str, Any]]

    def read(self, body: bytes, content_type: str) -> dict[str, Any]:
        """Returns a JSON object."""
        if not content_type.startswith("application/json") and body:
            code = "unsupported" if self.breaks("d.codes.content-type") else "bad_request"
            raise Refusal(code, "the body should be application/json")
        if len(body) > 1024 * 1024 and not self.breaks("d.limits.body"):
            raise Refusal("bad_request", "a body of over 1 MiB")
        try:
            fields = json.loads(body or b"{}", parse_constant=self._not_a_number)
        except json.JSONDecodeError as error:
            where = "" if self.breaks("d.codes.malformed") else f" at character {error.pos}"
            raise Refusal("bad_request", f"the body is not JSON{where}") from None
        if not isinstance(fields, dict):
            raise Refusal("bad_request", "the body should be an object")
        return cast("dict[str, Any]", fields)

    def _not_a_number(self, text: str) -> float:
        code = "internal" if self.breaks("d.codes.non-finite") else "bad_request"
        raise Refusal(code, f"{text} is no number")

    def speak(self, fields: dict[str, Any], resident: str | None) -> Said:
        """Returns what a speak request asks for."""
        self._check_shape(fields, _SPEAK)
        if "text" not in fields:
            code = "unsupported" if self.breaks("6.speak.text") else "bad_request"
            raise Refusal(code, "text: required")
        said = self._said(fields, resident)
        self.check_text(fields["text"], said.variant)
        self._check_delivery(fields, said.variant)
        said.lines = [(fields.get("voice"), fields["text"])]
        return said

    def talk(self, fields: dict[str, Any], resident: str | None) -> Said:
        """Returns what a dialogue request asks for."""
        self._check_shape(fields, _TALK)
        for flaw, name in _IGNORED.items():
            if self.breaks(flaw):
                fields.pop(name, None)
        said = self._said(fields, resident)
        if self.breaks("6.dialogue.as-speak: always WAV"):
            said.format = "wav"
        if "dialogue" not in self.variants[said.variant] and not self.breaks(
            "6.dialogue.undeclared"
        ):
            raise Refusal("unsupported", "no dialogue")
        turns: list[dict[str, str]] = fields.get("turns") or []
        whole = all(set(turn) == {"speaker", "text"} for turn in turns)
        self._check_turns(turns if whole else [], said.variant)
        if not turns or not whole:
            raise Refusal("internal" if self.breaks("6.dialogue.turns") else "bad_request", "turns")
        speakers = {turn["speaker"] for turn in turns}
        if len(speakers) > speakers_of(self.breaks) and not self.breaks(
            "6.dialogue.too-many-speakers"
        ):
            raise Refusal("unsupported", "too many speakers")
        if not speakers >= set(fields.get("voices", {})) and not self.breaks(
            "6.dialogue.unused-label"
        ):
            raise Refusal("bad_request", "voices: nobody says that")
        text = "".join(turn["text"] for turn in turns)
        if len(text) > limit_of(self.breaks) and not self.breaks("6.dialogue.budget"):
            raise Refusal("bad_request", "turns: too long")
        if fields.get("voices") == {} and self.breaks("6.dialogue.no-voice"):
            raise Refusal("bad_request", "voices: required")
        voices = fields.get("voices", {})
        said.lines = [(voices.get(turn["speaker"]), turn["text"]) for turn in turns]
        return said

    def _check_turns(self, turns: list[dict[str, str]], variant: str) -> None:
        if self.breaks("d.codes.unspeakable: a turn"):
            return
        for turn in turns:
            self.check_speakable(self.stripped(turn["text"], variant))

    def check_id(self, voice_id: str) -> None:
        """Refuses what is no voice id."""
        if not _VOICE_ID.fullmatch(voice_id):
            is_let_by = voice_id == "a b" and self.breaks("7.id.grammar")
            raise Refusal("unknown_voice" if is_let_by else "bad_request", "no voice id")

    def check_text(self, text: str, variant: str) -> None:
        """Refuses what is too long or says nothing."""
        is_too_long = len(text) > limit_of(self.breaks)
        if is_too_long and not self.breaks("8.checks.max-characters"):
            code = "unsupported" if self.breaks("d.codes.too-long") else "bad_request"
            raise Refusal(code, "text: too long")
        rest = self.stripped(text, variant)
        self.check_letters(rest)
        self.check_speakable(rest)

    def check_speakable(self, rest: str) -> None:
        """Refuses what has nothing to say."""
        if not any(character.isalnum() for character in rest):
            code = "unsupported" if self.breaks("d.codes.unspeakable") else "bad_request"
            raise Refusal(code, "text: nothing to say")

    def check_letters(self, text: str) -> None:
        """Refuses what is English, where that cannot be read."""
        if self.breaks(GEORGIAN) and text.isascii() and any(each.isalpha() for each in text):
            raise Refusal("internal", "no phonemes for Latin letters")

    def stripped(self, text: str, variant: str) -> str:
        """Returns the text without the cues that the variant does not claim."""
        is_lost = self.breaks("d.cues.matching")
        text = _CUE.sub(
            lambda match: "" if is_lost else f" [{' '.join(match[1].lower().split())}]", text
        )
        for cue in CUES:
            if cue not in self.variants[variant]["cues"] and not self.breaks(
                "d.cues.worker-strips"
            ):
                text = text.replace(f" [{cue}]", "")
        return text

    def _check_shape(self, fields: dict[str, Any], known: set[str]) -> None:
        if fields.get("stream") == "off" and not self.breaks("d.codes.coerced-boolean"):
            fields["stream"] = False
        for name, value in fields.items():
            if name not in known and not self._is_let_by(name):
                status = 422 if self.breaks("6.errors.bad-request") else None
                extra: dict[str, object] = (
                    {"field": name} if self.breaks("6.errors.envelope") else {}
                )
                message = f"{name}: no such field"
                raise Refusal("bad_request", message, status=status, extra=extra)
            kinds = _KINDS.get(name, (object,))
            is_flag = isinstance(value, bool) and name == "seed"
            is_wrong = not isinstance(value, kinds) or is_flag
            if is_wrong and not (is_flag and self.breaks("d.codes.wrong-type")):
                raise Refusal("bad_request", f"{name}: of the wrong kind")

    def _is_let_by(self, name: str) -> bool:
        return (
            (name == "noSuchField" and self.breaks("d.codes.unknown-field"))
            or (name == "engine" and self.breaks("1.protocol.shared"))
            or (name == "delivery" and self.breaks("6.dialogue.no-delivery"))
        )

    def _said(self, fields: dict[str, Any], resident: str | None) -> Said:
        variant = self._variant(fields, resident)
        form = self._format(fields)
        if form == "flac" and fields.get("stream") and self.breaks("6.format.listed: streamed"):
            raise Refusal("unsupported", "format: not as a stream")
        if "seed" in fields and self.breaks("6.seed.optional"):
            raise Refusal("unsupported", "seed: not here")
        self._check_language(fields, variant)
        params = fields.get("params", {})
        speed = 1.0
        for name, value in params.items():
            number = self._dial(variant, name, value)
            speed = number if name == "speed" else speed
        streams = fields.get("stream", self.breaks("d.defaults.stream"))
        return Said(fields, variant, form, streams, speed)

    def _variant(self, fields: dict[str, Any], resident: str | None) -> str:
        named = fields.get("variant")
        is_plain = set(fields) == {"text", "variant"} and named in self.variants
        if resident and is_plain and self.breaks("4.effective.request-first"):
            return resident
        if named is None:
            if resident is not None and not self.breaks("6.speak.variant"):
                return resident
            return "full" if self.breaks("d.variant.default") else "plain"
        if named not in self.variants:
            code = "bad_request" if self.breaks("d.codes.variant") else "unsupported"
            raise Refusal(code, "variant: there is none")
        return named

    def _format(self, fields: dict[str, Any]) -> str:
        form = fields.get("format", "pcm" if self.breaks("d.defaults.format") else "wav")
        if form in formats_of(self.breaks) and not (
            form == "flac" and self.breaks("6.format.listed")
        ):
            return form
        if self.breaks("d.errors.never-audio"):
            raise Refusal("unsupported", "format: not here", content_type="audio/wav")
        code = "bad_request" if self.breaks("d.codes.format-open") else "unsupported"
        status = 400 if self.breaks("6.errors.unsupported") else None
        retryable = True if self.breaks("6.errors.retryable") else None
        raise Refusal(code, "format: there is none", status=status, retryable=retryable)

    def _check_language(self, fields: dict[str, Any], variant: str) -> None:
        language = fields.get("language")
        listed = self.variants[variant]["languages"]
        if language is None:
            return
        if len(listed) == 1:
            if language not in listed and self.breaks("6.language.single-ignored"):
                raise Refusal("unsupported", "language: one is enough")
        elif language not in listed and not self.breaks("6.language.unlisted"):
            raise Refusal("unsupported", "language: not here")
        if language == "ka" and self.breaks(NOT_IN_ENGLISH):
            raise Refusal("internal", "no phonemes for Latin letters")
        if language == "fr" and self.breaks("8.claims.accepted"):
            raise Refusal("unsupported", "language: not today")

    def _check_delivery(self, fields: dict[str, Any], variant: str) -> None:
        delivery = fields.get("delivery")
        if delivery is None or delivery in self.variants[variant]["deliveries"]:
            return
        if delivery in {"hushed", "frantic"}:
            is_let_by = variant != "plain" and self.breaks(
                "d.codes.delivery-unclaimed: another variant"
            )
            if not is_let_by and not self.breaks("d.codes.delivery-unclaimed"):
                raise Refusal("unsupported", "delivery: not claimed")
        else:
            code = "unsupported" if self.breaks("d.codes.delivery-word") else "bad_request"
            raise Refusal(code, "delivery: no such word")

    def _dial(self, variant: str, name: str, value: Any) -> float:
        if isinstance(value, float) and not math.isfinite(value):
            raise Refusal("bad_request", f"params.{name}: a finite number")
        dial = self.variants[variant]["dials"].get(name)
        if dial is None:
            is_anothers = any(name in each["dials"] for each in self.variants.values())
            if self.breaks("6.params.unknown") or (
                is_anothers and self.breaks("6.params.unknown: another variant's")
            ):
                return 1.0
            raise Refusal("bad_request", f"params.{name}: there is no such dial")
        if isinstance(value, str) and self.breaks("d.codes.coerced"):
            raise Refusal("bad_request", f"params.{name}: a number")
        number = float(value)
        if number == dial["max"] and self.breaks("6.params.by-dials"):
            raise Refusal("bad_request", f"params.{name}: too much")
        if not dial["min"] <= number <= dial["max"]:
            is_second = name == "depth" and self.breaks("8.checks.params: the second dial")
            if is_second or self.breaks("8.checks.params"):
                return 1.0
            code = "unsupported" if self.breaks("d.codes.dial-range") else "bad_request"
            raise Refusal(code, f"params.{name}: out of range")
        return number
