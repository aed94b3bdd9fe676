"""The phonemes that the model knows, and the number it knows each by."""

from collections.abc import Mapping
from typing import Final

LONGEST: Final = 510
"""Most phonemes that the model takes at once; its own limit is two more, and those frame them."""

_RUNS: Final = {
    1: ";:,.!?",
    9: '—…"()“” \u0303ʣʥʦʨᵝꭧAI',
    31: "O",
    33: "Q",
    35: "ST",
    39: "W",
    41: "Yᵊabcdef",
    50: "hijklmnopqrstuvwxyzɑɐɒæ",
    75: "βɔɕç",
    80: "ɖðʤə",
    85: "ɚɛɜ",
    90: "ɟ",
    92: "ɡ",
    99: "ɥ",
    101: "ɨɪʝ",
    110: "ɯɰŋɳɲɴø",
    118: "ɸθœ",
    123: "ɹ",
    125: "ɾɻ",
    128: "ʁɽʂʃʈʧ",
    135: "ʊʋ",
    138: "ʌɣɤ",
    142: "χʎ",
    147: "ʒʔ",
    156: "ˈˌː",
    162: "ʰ",
    164: "ʲ",
    169: "↓",
    171: "→↗↘",
    177: "ᵻ",
}
"""The number of the first character of each run; the others count on from it."""

NUMBERS: Final[Mapping[str, int]] = {
    character: first + place
    for first, characters in _RUNS.items()
    for place, character in enumerate(characters)
}


def numbers_of(phonemes: str) -> list[int]:
    """Returns the numbers of `phonemes`; those that the model does not know are left out."""
    return [NUMBERS[phoneme] for phoneme in phonemes if phoneme in NUMBERS]
