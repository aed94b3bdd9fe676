"""What workers are asked to say."""

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
    "pl": "Zaraz będzie padać.",
    "ru": "Скоро пойдёт дождь.",
    "tr": "Birazdan yağmur yağacak.",
    "ar": "سوف تمطر قريبا.",
    "hi": "बारिश होने वाली है।",
    "ja": "もうすぐ雨が降ります。",
    "zh": "快要下雨了。",
    "ko": "곧 비가 올 거예요.",
}
"""A short sentence in each language that we know; the others are asked the English one."""


def sentence_for(variant: Variant, language: str | None = None) -> str:
    """Returns a short sentence in `language`, by default the variant's own, within its limit."""
    tag = language or next(iter(variant.languages or ()), "en")
    text = _SENTENCES.get(tag.lower().partition("-")[0], _SENTENCES["en"])
    return text[: variant.character_limit]


def long_text_for(variant: Variant, characters: int) -> str:
    """Returns about that many characters of whole sentences, within the variant's limit."""
    return " ".join([sentence_for(variant)] * sentences_in(variant, characters))


def sentences_in(variant: Variant, characters: int) -> int:
    """Returns how many sentences `long_text_for` makes that many characters of."""
    most = min(characters, variant.character_limit)
    return max(1, (most + 1) // (len(sentence_for(variant)) + 1))


def too_long_text_for(variant: Variant) -> str:
    """Returns a text of one character more than the variant allows."""
    sentence = sentence_for(variant) + " "
    longer = sentence * (variant.character_limit // len(sentence) + 2)
    return longer[: variant.character_limit] + "a"
