"""A docstring in the house's form, as Markdown."""

import re
from collections.abc import Iterator
from inspect import cleandoc
from textwrap import dedent
from typing import Final

_SECTION: Final = re.compile(r"^(Args|Yields|Raises):$", re.MULTILINE)
_ITEM: Final = re.compile(r"^(?=\S)", re.MULTILINE)
_IN_CODE: Final = re.compile(r"[\w.*]+")
"""A name; what stands before the colon of an item may be words instead."""


def markdown(docstring: str) -> str:
    """Returns paragraphs, each on one line, and a list for each section of items."""
    before, *sections = _SECTION.split(cleandoc(docstring))
    parts = [_paragraphs(before)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        inside, after = _cut(body)
        parts += [_section(title, inside), _paragraphs(after)]
    return "\n\n".join(part for part in parts if part)


def _cut(body: str) -> tuple[str, str]:
    """Parts what belongs to a section from the paragraphs that follow it."""
    inside, blank, after = body.strip("\n").partition("\n\n")
    return dedent(inside), after if blank else ""


def _section(title: str, body: str) -> str:
    if title == "Yields":
        return f"Yields: {_line(body)}"
    return "\n".join([f"{title}:", "", *_items(body)])


def _items(body: str) -> Iterator[str]:
    for item in filter(None, _ITEM.split(body)):
        name, _, text = item.partition(": ")
        shown = f"`{name}`" if _IN_CODE.fullmatch(name) else name
        yield f"- {shown}: {_line(text)}"


def _paragraphs(text: str) -> str:
    return "\n\n".join(_line(paragraph) for paragraph in text.strip().split("\n\n"))


def _line(text: str) -> str:
    return " ".join(text.split())
