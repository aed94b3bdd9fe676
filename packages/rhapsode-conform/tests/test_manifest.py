"""Promises and checks say the same, and the same as the contract's own list of rules."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from rhapsode_conform import CHECKS, MANIFEST, UNSEEN
from rhapsode_conform.checks import FAMILIES

ROOT = Path(__file__).parents[3]


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The contract's rules by their ids."""
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    return {rule.id: rule for rule in import_module("tests.contract.manifest").RULES}


def test_every_promise_has_one_check_and_every_check_a_promise() -> None:
    assert sorted(check.id for check in CHECKS) == sorted(MANIFEST)


def test_every_rule_that_a_worker_shows_is_checked_or_said_not_to_be(rules: dict[str, Any]) -> None:
    of_workers = {rule_id for rule_id, rule in rules.items() if rule.is_worker_rule}
    assert of_workers - set(MANIFEST) - set(UNSEEN) == set()


def test_no_rule_that_is_checked_is_said_not_to_be() -> None:
    assert set(UNSEEN) & set(MANIFEST) == set()


def test_every_promise_is_a_rule_of_the_contract(rules: dict[str, Any]) -> None:
    assert (set(MANIFEST) | set(UNSEEN)) - set(rules) == set()


@pytest.mark.parametrize("promise_id", MANIFEST)
def test_a_promise_is_one_sentence(promise_id: str) -> None:
    text = MANIFEST[promise_id].text
    assert text == " ".join(text.split())
    assert text.endswith(".") and len(text) <= 300


def test_checks_run_family_by_family() -> None:
    order = [FAMILIES.index(check.family) for check in CHECKS]
    assert order == sorted(order)


def test_it_imports_neither_the_core_nor_the_worker_sdk() -> None:
    code = (
        "import sys, rhapsode_conform.cli\n"
        "print([name for name in sys.modules"
        " if name.split('.')[0] in {'rhapsode', 'rhapsode_worker', 'numpy'}])"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == "[]"
