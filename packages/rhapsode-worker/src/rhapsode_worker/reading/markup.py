"""Markup that people paste: tags go, what they hold stays.

Nobody hears a tag, SSML's included: this engine performs none, and the alternative is that it is
read out. A lone `<` is still "less than".
"""

import html
import re
from typing import Final

from rhapsode_worker.reading import markdown

# What a reader pauses at. A blank line, which nothing later joins.
_PARAGRAPH: Final = "\n\n"
_BLOCKS: Final = re.compile(
    "article|aside|blockquote|body|br|break|d[dlt]|div|footer|h[1-6]|head|header|hr|html|li|main|nav"
    "|ol|p|pre|s|section|speak|table|t[dhr]|title|ul",
    re.IGNORECASE,
)

# None of these can look past the next `<` in vain for long: a hostile text stays cheap.
_HIDDEN = re.compile(
    r"<!--.*?-->|<(script|style)\b[^<>]*>.*?</\1\s*>|<\?[^<>]*\?>|<!DOCTYPE[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)?[^\s<>]*[.@][^\s<>]*)>")
_TAG = re.compile(
    r"""</?([A-Za-z][\w:.-]*)
        (?:\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*
        \s*/?>""",
    re.VERBOSE,
)
# Only with its semicolon: "AT&T" and "?a=1&copy=2" are no entities.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def without_markup(text: str) -> str:
    """Returns `text` without SSML, HTML and Markdown; their entities are resolved."""
    text = _HIDDEN.sub(" ", text)
    text = _CDATA.sub(lambda match: match[1], text)
    text = _AUTOLINK.sub(lambda match: f" {match[1]} ", text)
    text = _TAG.sub(lambda match: _PARAGRAPH if _BLOCKS.fullmatch(match[1]) else "", text)
    text = markdown.without_markdown(text)
    # Last, so that `&lt;b&gt;` is read: whoever writes that means the characters.
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)
