"""What the servers are asked to say: test sentences and nothing else."""

from typing import Final

SENTENCE: Final = (
    "The quick brown fox jumps over the lazy dog while the weather report promises warm sunshine"
    " and a gentle breeze along the northern coast this weekend."
)
"""150 characters."""

PARAGRAPH: Final = (
    "The old lighthouse stood at the edge of the harbor for nearly two hundred years, and every"
    " evening its keeper climbed the narrow stairs to light the lamp. Sailors from distant"
    " countries learned to trust its steady beam, because the rocks below had claimed many ships"
    " before it was built. In the winter of eighteen ninety, a terrible storm tore the roof from"
    " the keeper's house and scattered fishing boats across the beach. The keeper, a quiet woman"
    " named Margaret, refused to leave her post until every boat had come home. When morning"
    " arrived, the whole village gathered on the pier to thank her with bread, coffee and warm"
    " blankets. She smiled, shook her head, and said that anyone would have done the same thing."
    " Today the lamp is electric and the keeper is gone, but visitors still climb the stairs to"
    " look out over the water. On clear days they can see the islands in the west, and on foggy"
    " nights the horn still sounds, low and patient, calling travelers safely back to shore."
)
"""982 characters, eight sentences."""

YES: Final = f"Yes, {PARAGRAPH}"
"""Its first phrase is over before a second one can be made."""

HALF: Final = ". ".join(PARAGRAPH.split(". ")[:4]) + "."
"""Four sentences: long enough to leave in the midst of it."""

EIGHT: Final = (
    "A narrow path leads from the station to the river and the old stone mill.",
    "Seven small boats were waiting in the harbor when the morning fog lifted.",
    "Please remember to water the plants in the kitchen before you go to work.",
    "The library opens at nine and closes early on the last Friday of June.",
    "Her grandfather repaired clocks in a tiny shop behind the market square.",
    "Every winter the lake freezes and children skate until the lamps go out.",
    "The committee will publish its final report at the end of next month.",
    "Fresh bread and strong coffee were ready long before the guests arrived.",
)
"""Alike in length and in nothing else: somebody else's sentence would be noticed."""
