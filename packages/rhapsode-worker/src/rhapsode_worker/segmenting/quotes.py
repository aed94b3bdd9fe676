"""Which sentences end within quotes or brackets, where a cut would part a pair."""

import re
from itertools import accumulate
from typing import Final

from rhapsode_worker.segmenting.atoms import Atoms
from rhapsode_worker.segmenting.strength import Strength

_BRACKETS: Final = dict(zip(")]}）］｝】〕》〉」』｣", "([{（［｛【〔《〈「『｢", strict=True))
_KINDS: Final = (
    {bracket: bracket for bracket in _BRACKETS.values()}
    | _BRACKETS
    | dict.fromkeys("“”„«»", '"')
    | dict.fromkeys("‘’‚‹›'", "'")
)
"""What a mark has in common with its partner: quotes open and close in many ways."""

_OPENING: Final = re.escape("".join(_BRACKETS.values()))
_CLOSING: Final = re.escape("".join(_BRACKETS))
_DOUBLE: Final = "“”„«»"
_SINGLE: Final = "‘’‚‹›'"
_BEGINS: Final = r"(?<![^\s(\[{「『（—–-].)"
"""A quote that opens whatever it looks like: at the start, behind a blank, dash or bracket."""
# It begins with the mark itself and then looks behind it, so that nothing is tried at any other
# character. The first group is there where the mark opens a pair.
_MARK = re.compile(
    rf"[{_OPENING}{_CLOSING}{_DOUBLE}{_SINGLE}\n](?:"
    rf"(?<=[{_OPENING}])()|(?<=[{_CLOSING}])"
    rf"|(?<=[{_DOUBLE}])(?:(?:{_BEGINS}(?=\S)|(?<=“)(?=\w)|(?<=[«„])(?=\s))()|)"
    rf"|(?<=[‘’‚‹'])(?=\w)(?:(?:{_BEGINS}|(?<=‘)(?<!\w.))()|(?<!\w.))"
    # An apostrophe within a word is no quote.
    r"|(?<=[’‘›'])(?!\w)(?:(?<=[\[{「『（—–-].)(?=\S)()|(?<=[^\s(].))"
    r"|(?<=\n)\s*\n)",
    re.DOTALL,
)
_SEARCHED: Final = 4
"""How many open pairs a closing mark may close at once; the outer ones were never meant."""


def spare_pairs(shadow: str, atoms: Atoms) -> None:
    """Lowers the strength of sentence ends of `atoms` that lie within a pair."""
    strengths, sentence = atoms.strengths, Strength.SENTENCE
    if sentence not in strengths[:-1]:
        return
    pairs = _pairs(shadow)
    if not pairs:
        return
    edges = [0] * (len(shadow) + 1)
    for start, end in pairs:
        edges[start] += 1
        edges[end] -= 1
    depths = list(accumulate(edges))
    for at, end in enumerate(atoms.ends[:-1]):
        if depths[end] and strengths[at] == sentence:
            strengths[at] = Strength.INNER_SENTENCE


def _pairs(shadow: str) -> list[tuple[int, int]]:
    """Returns where each pair opens and closes; marks without a partner are in none."""
    pairs: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    for match in _MARK.finditer(shadow):
        if match.lastindex:
            opened.append((_KINDS[match[0]], match.start()))
            continue
        if not opened:
            continue
        kind = _KINDS.get(match[0])
        if kind is None:  # the end of a paragraph
            opened.clear()
            continue
        for back in range(1, min(_SEARCHED, len(opened)) + 1):
            if opened[-back][0] == kind:
                pairs.append((opened[-back][1], match.start()))
                del opened[-back:]
                break
    return pairs
