"""The manifest is well-formed, and it and the tests say the same."""

import re
from collections import Counter
from pathlib import Path

import pytest

from .coverage import differences
from .manifest import OPEN_IDS, RULES, SECTIONS, Section
from .marks import read_tree
from .rules.rule import Rule

ROOT = Path(__file__).parents[2]

ID = re.compile(r"(\d+|d)(\.[a-z0-9]+(-[a-z0-9]+)*){1,2}")
SENTENCE = re.compile(r"[A-Z`].*[^.\s]\.")


def test_every_rule_has_a_test_or_is_open_and_every_mark_names_a_rule() -> None:
    """A failure lists, line by line, the marks to correct and the ids to add or remove."""
    found = differences({rule.id for rule in RULES}, OPEN_IDS, read_tree(ROOT))
    assert not found, "\n" + "\n".join(found)


def test_no_two_rules_share_an_id() -> None:
    counts = Counter(rule.id for rule in RULES)
    assert [id for id, count in counts.items() if count > 1] == []


def test_no_two_rules_say_the_same() -> None:
    counts = Counter(rule.text for rule in RULES)
    assert [text for text, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_well_formed(rule: Rule) -> None:
    assert ID.fullmatch(rule.id)
    assert SENTENCE.fullmatch(rule.text), "one line, from a capital letter to a full stop"
    assert len(rule.text) <= 300


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.key)
def test_a_section_holds_the_rules_of_its_own_key(section: Section) -> None:
    assert section.rules
    assert {rule.section for rule in section.rules} == {section.key}


def test_every_section_has_a_key_of_its_own() -> None:
    assert len({section.key for section in SECTIONS}) == len(SECTIONS)


def test_the_open_list_is_sorted_and_names_each_rule_once() -> None:
    assert list(OPEN_IDS) == sorted(set(OPEN_IDS))


def test_the_open_list_names_rules_only() -> None:
    assert sorted(set(OPEN_IDS) - {rule.id for rule in RULES}) == []


def test_a_rule_that_awaits_a_later_part_is_open() -> None:
    """A failure names rules whose `awaits` is to be emptied."""
    assert [rule.id for rule in RULES if rule.awaits and rule.id not in OPEN_IDS] == []
