"""What workers are asked to say."""

from dataclasses import dataclass
from typing import Final

from rhapsode_contract import Variant

_SENTENCES: Final = {
    "en": "It is going to rain.",
    "de": "Es wird bald regnen.",
    "fr": "Il va bientôt pleuvoir.",
    "es": "Va a llover pronto.",
    "it": "Sta per piovere.",
    "pt": "Vai chover em breve.",
    "nl": "Het gaat regenen.",
    "da": "Det bliver snart regnvejr.",
    "sv": "Det kommer snart att regna.",
    "fi": "Pian alkaa sataa vettä.",
    "pl": "Zaraz będzie padać.",
    "cs": "Brzy bude pršet.",
    "hu": "Mindjárt esni fog az eső.",
    "ro": "În curând va ploua.",
    "ru": "Скоро пойдёт дождь.",
    "uk": "Скоро піде дощ.",
    "el": "Σε λίγο θα βρέξει.",
    "tr": "Birazdan yağmur yağacak.",
    "ar": "سوف تمطر قريبا.",
    "fa": "به زودی باران می‌بارد.",
    "he": "בקרוב ירד גשם.",
    "hi": "बारिश होने वाली है।",
    "th": "ฝนกำลังจะตก",
    "vi": "Trời sắp mưa rồi.",
    "ja": "もうすぐ雨が降ります。",
    "zh": "快要下雨了。",
    "ko": "곧 비가 올 거예요.",
}
"""A short sentence in each language that we know; the others are asked the English one."""

_OTHER_NAMES: Final = {"cmn": "zh", "arb": "ar", "pes": "fa", "iw": "he"}
"""Primary tags of what is the same language as another one, or all that is meant by it."""


class NoText(ValueError):
    """A text that nobody can say."""


@dataclass(frozen=True)
class Texts:
    """What to say, in each language and at each length."""

    own: str | None = None
    """Said in place of our own sentences; None: those. A language that is not the variant's first,
    and that we know, is asked in our sentence still."""

    def __post_init__(self) -> None:
        if self.own is not None and not is_speakable(self.own):
            raise NoText(f"there is nothing to say in {self.own!r}")

    def sentence(self, variant: Variant, language: str | None = None) -> str:
        """Returns what to say in `language`, by default the variant's first, within its limit."""
        first = primary_of(next(iter(variant.languages or ()), "en"))
        asked = first if language is None else primary_of(language)
        if self.own is not None and (asked == first or asked not in _SENTENCES):
            text = self.own
        else:
            text = _SENTENCES.get(asked, _SENTENCES["en"])
        return text[: variant.character_limit]

    def knows(self, variant: Variant, language: str) -> bool:
        """Whether what `sentence` returns is in that language."""
        first = primary_of(next(iter(variant.languages or ()), "en"))
        is_own = self.own is not None and primary_of(language) == first
        return is_own or primary_of(language) in _SENTENCES

    def long(self, variant: Variant, characters: int) -> str:
        """Returns about that many characters of whole sentences, within the variant's limit."""
        return " ".join([self.sentence(variant)] * self.sentences_in(variant, characters))

    def sentences_in(self, variant: Variant, characters: int) -> int:
        """Returns how many sentences `long` makes that many characters of."""
        most = min(characters, variant.character_limit)
        return max(1, (most + 1) // (len(self.sentence(variant)) + 1))

    def exactly(self, variant: Variant, characters: int) -> str:
        """Returns a text of that many characters, whatever the variant's limit; one at least."""
        sentence = self.sentence(variant) + " "
        longer = sentence * (characters // len(sentence) + 1)
        return longer[: characters - 1] + "a"

    def with_cue(self, variant: Variant, cue: str) -> tuple[str, str] | None:
        """Returns a sentence, and it with a cue behind it, within the variant's limit.

        None where the cue leaves no room for anything to say.
        """
        mark = f" [{cue}]"
        plain = self.sentence(variant)[: max(0, variant.character_limit - len(mark))].rstrip()
        return (plain, plain + mark) if is_speakable(plain) else None

    def shared(self, variant: Variant, turns: int, *, spare: int = 0) -> str:
        """Returns what each of so many turns may say within the limit of all; empty: nothing.

        Args:
            variant: Whose limit it is.
            turns: How many share it.
            spare: How many characters are left for something else.
        """
        room = max(0, variant.character_limit - spare)
        share = self.sentence(variant)[: room // turns].rstrip()
        return share if is_speakable(share) else ""


def primary_of(tag: str) -> str:
    """Returns the language of a tag, in one of its names where it has several."""
    primary = tag.lower().partition("-")[0]
    return _OTHER_NAMES.get(primary, primary)


def is_speakable(text: str) -> bool:
    """Whether there is anything in it that can be said."""
    return any(character.isalnum() for character in text)
