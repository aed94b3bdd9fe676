"""Makes `docs/protocol.md` of the manifest: `python -m tests.contract.protocol_page` writes it."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from .manifest import OPEN_IDS, SECTIONS, Section
from .rules.rule import Rule

PAGE_FILE: Final = Path(__file__).parents[2] / "docs" / "protocol.md"

INTRODUCTION: Final = """\
# The protocol of Rhapsode

Rhapsode puts many speech engines behind one HTTP API. A *server* takes the requests of clients; each engine runs in a *worker*, a process of its own, which speaks the same protocol for that one engine. This page lists every rule that clients, the server and workers can rely on.

Each rule has a name that does not change. Tests carry these names: a test proves every rule here that is not marked as *not built yet*.

- *worker*: a worker alone can show it, or its own half of it, so that whoever writes an engine can check it without a server.
- *not built yet*: nobody can rely on it yet.

The page is made from `tests/contract/rules/`; change it there.
"""  # noqa: E501 - a paragraph is a line, so that a change shows as one line in a diff


def page(sections: Iterable[Section], open_ids: Collection[str]) -> str:
    """Return the whole page as Markdown."""
    parts = [INTRODUCTION, *(_section(section, open_ids) for section in sections)]
    return "\n".join(parts)


def _section(section: Section, open_ids: Collection[str]) -> str:
    number = f"{section.key}. " if section.key.isdigit() else ""
    bullets = [_bullet(rule, is_open=rule.id in open_ids) for rule in section.rules]
    return "\n".join([f"## {number}{section.title}", "", *bullets, ""])


def _bullet(rule: Rule, *, is_open: bool) -> str:
    notes = ", ".join(_notes(rule, is_open=is_open))
    return f"- `{rule.id}`: {rule.text}" + (f" *({notes})*" if notes else "")


def _notes(rule: Rule, *, is_open: bool) -> Iterator[str]:
    if rule.is_worker_rule:
        yield "worker"
    if is_open:
        yield "not built yet"


if __name__ == "__main__":
    PAGE_FILE.write_text(page(SECTIONS, OPEN_IDS), encoding="utf-8")
