"""Markdown, and with it the engine's own syntax for phonemes, which looks like one of its links."""

import re

_FENCE = re.compile(r"[ \t]*(?:```|~~~)[^`\n]*")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}|[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t:-]*")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t#]*")
_BULLET = re.compile(r"[ \t]*[-*•‣◦][ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_QUOTE = re.compile(r"[ \t]{0,3}(?:>[ \t]?)+(?=[^\s\d]|$)")

# `[word](target)`, the target a link, perhaps with a title, or phonemes between slashes.
_LINK = re.compile(
    r"""!?\[([^\[\]]*)\]
        (?:\(\s*(?:/[^()\n]*/
                 |[^\s()]*(?:\([^\s()]*\)[^\s()]*)*(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?)\s*\)
          |\[[^\[\]\n]*\])""",
    re.VERBOSE,
)
_CODE = re.compile(r"(?<!`)(`+)(?!`)([^`]+)\1(?!`)")
_STARS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]+?)(?<=\S)\1(?![\w*])")
_UNDERSCORES = re.compile(r"(?<![\w_])(_{1,3})(?=[^\s_])([^_]+?)(?<=\S)\1(?![\w_])")
_STRUCK = re.compile(r"~~(?=\S)([^~]+?)(?<=\S)~~")


def without_markdown(text: str) -> str:
    """Returns `text` with what Markdown marks, but without the marks.

    A heading or an item of a list becomes a paragraph.
    """
    text = "\n".join(_line(line) for line in text.split("\n"))
    text = _LINK.sub(lambda match: match[1], text)
    text = _CODE.sub(lambda match: match[2], text)
    for marks in (_STARS, _UNDERSCORES):
        # Twice, for emphasis within emphasis.
        text = marks.sub(lambda match: match[2], marks.sub(lambda match: match[2], text))
    return _STRUCK.sub(lambda match: match[1], text)


def _line(line: str) -> str:
    if _FENCE.fullmatch(line) or _RULE.fullmatch(line):
        return ""
    if quoted := _QUOTE.match(line):
        line = line[quoted.end() :]
    if heading := _HEADING.fullmatch(line):
        return f"\n{heading[1]}\n"
    if bullet := _BULLET.match(line):
        return f"\n{line[bullet.end() :]}\n"
    return line
