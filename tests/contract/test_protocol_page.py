"""`docs/protocol.md` says what the manifest says."""

from .manifest import OPEN_IDS, SECTIONS, Section
from .protocol_page import PAGE_FILE, page
from .rules.rule import Rule


def test_the_committed_page_is_the_one_that_the_manifest_makes() -> None:
    committed = PAGE_FILE.read_text(encoding="utf-8")
    assert committed == page(SECTIONS, OPEN_IDS), (
        "run `python -m tests.contract.protocol_page` in the repository's root"
    )


def test_a_rule_is_a_bullet_with_its_id_in_code_font() -> None:
    section = Section("6", "Speaking", (Rule("6.a", "It speaks."),))
    assert page([section], []).endswith("\n## 6. Speaking\n\n- `6.a`: It speaks.\n")


def test_a_rule_says_whether_a_worker_shows_it_and_whether_it_is_open() -> None:
    section = Section("d", "Details", (Rule("d.a", "It speaks.", is_worker_rule=True),))
    text = page([section], ["d.a"])
    assert text.endswith("\n## Details\n\n- `d.a`: It speaks. *(worker, not built yet)*\n")
