"""The voices that can be spoken with: those of the release, and those that callers made."""

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from rhapsode_contract import ModelUnavailable, UnknownVoice, Unsupported, Voice
from rhapsode_worker import NewVoice, VoiceStore
from rhapsode_worker.voicing.spec import mint_spec
from rhapsode_worker.voicing.store import StoredVoice
from rhapsode_worker.voicing.tensor_file import TENSOR_TYPES

from rhapsode_engine_kokoro.roster import (
    LANGUAGE_NAMES,
    NAMES,
    BuiltIn,
    named_language,
    speakers,
)
from rhapsode_engine_kokoro.styles import Styles, VoicesFile, mixed, npy_of, read_styles

REFERENCE_TYPES: Final = TENSOR_TYPES

_READ_LIMIT: Final = 32
"""Created voices that are kept in memory, half a megabyte each; the others are read again."""


class Voices:
    """Every voice of one engine. A voice made under the id of a built-in stands in its place.

    Every method may be called from any thread.
    """

    def __init__(
        self,
        voice_dir: Path,
        voices_file: Path,
        voices_sha256: str,
        *versions: str,
        languages: Sequence[str],
    ) -> None:
        """Args:
        voice_dir: Where created voices lie.
        voices_file: Those of the release, once they are fetched.
        voices_sha256: Of that file.
        versions: Whatever else a rendering depends on.
        languages: Those that can be read; the voices of no other are listed. The first is that of
            a created voice which says nothing else.
        """
        self._store = VoiceStore(voice_dir, REFERENCE_TYPES, *versions)
        self._path = voices_file
        self._versions = (voices_sha256, *versions)
        self._languages = languages
        self._built_in = speakers(languages)
        self._release: VoicesFile | None = None
        self._read: OrderedDict[str, Styles] = OrderedDict()

    def load(self) -> None:
        """Reads the voices of the release into memory; does nothing where they are there.

        Raises:
            OSError: The file cannot be read.
        """
        if self._release is None:
            self._release = VoicesFile(self._path, NAMES)

    def listed(self, variant: str) -> list[Voice]:
        """Returns each voice as it is listed on a variant, the default first."""
        own = {voice.id: self._as_listed(voice, variant) for voice in self._built_in.values()}
        made = {voice.id: voice for voice in self._store.listed(salt=variant)}
        return list((own | made).values())

    def chosen(self, name: str | None, language: str | None) -> str:
        """Returns the id of the voice to speak with.

        Args:
            name: The one asked for; None for the first that speaks `language`.
            language: A tag of the engine's, or None.

        Raises:
            UnknownVoice: There is none of that name.
        """
        if name is None:
            # One that a caller has put in the place of a built-in speaks what it says.
            fitting = (each for each in self._built_in if self.language_of(each) == language)
            return next(fitting, next(iter(self._built_in)))
        if name not in self._built_in:
            self._stored(name)
        return name

    def language_of(self, voice_id: str) -> str:
        """Returns the language of a voice, one of those that can be read.

        Raises:
            UnknownVoice: There is none of that id.
        """
        with suppress(UnknownVoice):
            stored = self._store.get(voice_id)
            tags = stored.record.tags if stored.record else ()
            told = [tag for tag in tags if tag in self._languages]
            return told[0] if told else self._named_language(voice_id)
        if voice_id not in self._built_in:
            raise _unknown(voice_id)
        return self._built_in[voice_id].language

    def styles_of(self, voice_id: str) -> Styles:
        """Returns the style vectors of a voice.

        Raises:
            UnknownVoice: There is none of that id.
            ModelUnavailable: It is one of the release, which has not been fetched.
            BadRequest: An operator put a file into the voice folder that is no voice.
        """
        with suppress(UnknownVoice):
            return self._styles_in(self._store.get(voice_id))
        if voice_id not in self._built_in:
            raise _unknown(voice_id)
        try:
            self.load()
        except FileNotFoundError:
            raise ModelUnavailable(
                f"the voice {voice_id} has not been fetched; ask for /fetch, or load a variant"
            ) from None
        assert self._release is not None
        return self._release[voice_id]

    def clone(self, new: NewVoice) -> None:
        """Makes a voice of the style vectors in `new.reference`.

        Raises:
            BadRequest: The file holds something else.
        """
        assert new.reference is not None
        read_styles(new.reference.path)
        language = self._named_language(new.id)
        self._store.create(
            new.id,
            new.reference,
            label=new.label,
            description=f"{LANGUAGE_NAMES[language]}, from a style vector",
            tags=(language, "cloned"),
            transcript=new.transcript,
        )

    def blend(self, new: NewVoice) -> None:
        """Makes a voice that lies between others; it speaks as the one that counts most.

        Raises:
            UnknownVoice, ModelUnavailable: As `styles_of`.
        """
        assert new.blend is not None
        parts = new.blend.parts
        styles = mixed([(self.styles_of(name), share) for name, share in parts])
        language = self.language_of(max(parts, key=lambda part: part[1])[0])
        recipe = "+".join(f"{name}({share:.3g})" for name, share in parts)
        with self._store.staging.stage("npy") as staged:
            staged.write(npy_of(styles))
            self._store.create(
                new.id,
                staged,
                label=new.label,
                description=f"{LANGUAGE_NAMES[language]}, {recipe}",
                tags=(language, "blended"),
                transcript=new.transcript,
                created_from=recipe,
            )

    def delete(self, voice_id: str) -> None:
        """Deletes a voice that a caller made; a built-in that it stood in for is back.

        Raises:
            Unsupported: It is one of the release.
            UnknownVoice: There is none.
        """
        try:
            self._store.delete(voice_id)
        except UnknownVoice:
            if voice_id not in self._built_in:
                raise
            raise Unsupported(
                f"{voice_id} is the engine's own and cannot be deleted", field="id"
            ) from None

    def _named_language(self, voice_id: str) -> str:
        return named_language(voice_id, self._languages) or self._languages[0]

    def _stored(self, voice_id: str) -> StoredVoice:
        try:
            return self._store.get(voice_id)
        except UnknownVoice:
            raise _unknown(voice_id) from None

    def _as_listed(self, voice: BuiltIn, variant: str) -> Voice:
        return Voice(
            id=voice.id,
            label=voice.label,
            description=f"{LANGUAGE_NAMES[voice.language]}, {voice.gender}",
            spec=mint_spec(voice.id, *self._versions, variant),
            tags=(voice.language, voice.gender),
        )

    def _styles_in(self, voice: StoredVoice) -> Styles:
        """Reading a file takes a tenth of a second, so what was read is kept, by its contents."""
        styles = self._read.get(voice.digest)
        if styles is None:
            styles = read_styles(voice.path)
            self._read[voice.digest] = styles
            while len(self._read) > _READ_LIMIT:
                self._read.popitem(last=False)
        return styles


def _unknown(voice_id: str) -> UnknownVoice:
    return UnknownVoice(f"voice: there is no {voice_id!r}", field="voice")
