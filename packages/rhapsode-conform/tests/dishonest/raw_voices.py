"""The voices of the raw worker, and those that are made."""

import hashlib
import json
import pickle
import re
from pathlib import Path
from typing import Any, Final

from . import tones
from .declared import REFERENCE_SECONDS, VOICES, Breaks
from .refusal import Refusal
from .requests import Checker

Parts = dict[str, tuple[str | None, bytes]]
"""Parts of a form: the file's name, where it is one, and the content."""

DEFAULT_HERTZ: Final = 300

_FIELDS: Final = {"id", "label", "reference", "blend", "transcript"}

_PART = re.compile(rb'name="([^"]*)"(?:; filename="([^"]*)")?[^\r]*(?:\r\n[^\r]+)*\r\n\r\n')
_BLEND = re.compile(r"[A-Za-z0-9_-]+(\(([0-9.]+)\))?")


class RawVoices:
    """A list in memory, and those that were made in a file."""

    def __init__(
        self, breaks: Breaks, checker: Checker, *, makes_voices: bool, folder: str | None = None
    ) -> None:
        self._breaks = breaks
        self._checker = checker
        self._makes_voices = makes_voices
        self.listed = {
            name: {
                "id": name,
                "label": name.upper(),
                "spec": f"{name}-1",
                "previewUrl": f"/voices/{name}/preview",
            }
            for name in VOICES
        }
        if breaks("one voice"):
            del self.listed["high"]
        self._hertz = dict(VOICES)
        if breaks("7.voices.distinct"):
            self._hertz = dict.fromkeys(VOICES, DEFAULT_HERTZ)
        if breaks("7.voices.listed"):
            del self.listed["high"]["label"]
        if breaks("7.voices.listed: no spec"):
            self.listed["high"]["spec"] = ""
        if breaks("7.id.grammar: one listed"):
            self.listed["../x"] = {**self.listed["high"], "id": "../x"}
        self._recipes: dict[str, list[tuple[float, str]]] = {}
        self._loudness: dict[str, float] = {}
        self._file = Path(folder) / "raw.json" if folder else None
        if self._file is not None and self._file.exists():
            kept = json.loads(self._file.read_text(encoding="utf-8"))
            self.listed |= kept["listed"]
            self._hertz |= kept["hertz"]

    def _store(self) -> None:
        if self._file is None:
            return
        made = {name: voice for name, voice in self.listed.items() if name not in VOICES}
        hertz = {name: self._hertz[name] for name in made}
        self._file.parent.mkdir(exist_ok=True)
        self._file.write_text(json.dumps({"listed": made, "hertz": hertz}), encoding="utf-8")

    def check(self, voice_id: str) -> None:
        """Refuses what is no voice, or none of ours."""
        self._checker.check_id(voice_id)
        if voice_id in self.listed:
            return
        status = 422 if self._breaks("6.errors.unknown-voice") else None
        near = (
            "" if self._breaks("d.errors.near-voices") else f"; there are {', '.join(self.listed)}"
        )
        raise Refusal("unknown_voice", f"voice: there is no {voice_id!r}{near}", status=status)

    def create(self, body: bytes) -> dict[str, Any]:
        """Makes a voice of a form."""
        parts = _parts(body)
        if not self._makes_voices:
            if "blend" in parts and self._breaks("4.blending.absent"):
                return self._keep("made", b"")
            code = "bad_request" if self._breaks("7.create.impossible") else "unsupported"
            raise Refusal(code, "this engine makes no voices")
        for name in parts.keys() - _FIELDS:
            if not self._breaks("d.codes.unknown-field: in a form"):
                raise Refusal("bad_request", f"{name}: no such field")
        voice_id = parts["id"][1].decode()
        if not self._breaks("7.id.grammar: of a new voice"):
            self._checker.check_id(voice_id)
        is_one = ("reference" in parts) != ("blend" in parts)
        if not is_one:
            if self._breaks("7.create.one-source"):
                return self._keep(voice_id, body)
            raise Refusal("bad_request", "one of reference and blend")
        if "blend" in parts:
            content = self._blend(voice_id, parts["blend"][1].decode())
        else:
            content = self._reference(voice_id, parts)
        label = voice_id if self._breaks("7.create.label") else parts["label"][1].decode()
        return self._keep(voice_id, content, label)

    def loudness_of(self, voice_id: str | None) -> float:
        """Returns how loud a voice is, of 1."""
        return self._loudness.get(voice_id or "", 1.0)

    def hertz_of(self, voice_id: str | None) -> int:
        """Returns how high a voice is, or the one of whoever has none."""
        if voice_id in self._recipes:
            shares = [(weight, self.hertz_of(name)) for weight, name in self._recipes[voice_id]]
            return _mean(shares)
        return self._hertz.get(voice_id or next(iter(VOICES)), DEFAULT_HERTZ)

    def delete(self, voice_id: str) -> None:
        """Takes a voice away."""
        if self._breaks("6.errors.unknown-voice: deleted"):
            self._checker.check_id(voice_id)
        else:
            self.check(voice_id)
        if voice_id in VOICES:
            raise Refusal("unsupported", "it is built in")
        self.listed.pop(voice_id, None)
        self._hertz.pop(voice_id, None)
        self._store()

    def _keep(self, voice_id: str, content: bytes, label: str = "made") -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()[:12]
        spec = voice_id if self._breaks("7.create.replaces") else f"{voice_id}-{digest}"
        self.listed[voice_id] = {"id": voice_id, "label": label, "spec": spec}
        self._hertz.setdefault(voice_id, DEFAULT_HERTZ)
        self._store()
        return self.listed[voice_id]

    def _reference(self, voice_id: str, parts: Parts) -> bytes:
        name, content = parts["reference"]
        if str(name).endswith(".pt") and self._breaks("7.create.never-unpickled"):
            pickle.loads(content)
        if not str(name).endswith(".wav"):
            code = "bad_request" if self._breaks("7.create.reference") else "unsupported"
            raise Refusal(code, "reference: a wav")
        if content[:4] != b"RIFF":
            raise Refusal("bad_request", "reference: no recording")
        least, most = REFERENCE_SECONDS
        if not least <= tones.seconds_of(content) <= most:
            raise Refusal("bad_request", f"reference: {least} to {most} seconds")
        if "transcript" in parts:
            self._checker.check_letters(parts["transcript"][1].decode())
        if "transcript" not in parts and self._breaks("7.create.transcript"):
            raise Refusal("bad_request", "something is missing")
        is_heard = not self._breaks("7.create.heard")
        self._hertz[voice_id] = tones.hertz_of(content) if is_heard else DEFAULT_HERTZ
        return content

    def _blend(self, voice_id: str, recipe: str) -> bytes:
        shares: list[tuple[float, int]] = []
        names: list[str] = []
        for part in recipe.split("+"):
            match = _BLEND.fullmatch(part)
            weight = float(match[2]) if match and match[2] else 1.0
            if not match or (weight <= 0 and not self._breaks("7.blend.recipe")):
                raise Refusal("bad_request", "blend: no recipe")
            name = part.partition("(")[0]
            self.check(name)
            names.append(name)
            shares.append((1.0 if self._breaks("7.blend.weights") else weight, self.hertz_of(name)))
        if self._breaks("each voice once") and len({hertz for _, hertz in shares}) < len(shares):
            raise Refusal("bad_request", "blend: a name is given twice")
        self._hertz[voice_id] = _mean(shares)
        if self._breaks("7.blend.fixed"):
            self._recipes[voice_id] = [
                (weight, name) for (weight, _), name in zip(shares, names, strict=True)
            ]
        if self._breaks("7.blend.recipe: not scaled"):
            self._loudness[voice_id] = min(1.0, sum(weight for weight, _ in shares))
        return recipe.encode()


def _mean(shares: list[tuple[float, int]]) -> int:
    whole = sum(weight for weight, _ in shares) or 1.0
    return round(sum(weight * hertz for weight, hertz in shares) / whole)


def _parts(body: bytes) -> Parts:
    boundary = body.partition(b"\r\n")[0]
    parts: Parts = {}
    for part in body.split(boundary)[1:-1]:
        match = _PART.search(part)
        assert match is not None
        name = match[2].decode() if match[2] is not None else None
        parts[match[1].decode()] = (name, part[match.end() : -2])
    return parts
