"""Every rule of the contract, gathered from `rules/`, and which of them are still open.

A rule is open while no test carries its mark, `@pytest.mark.contract("<id>")`. The open ids stand
in `open.txt`, one a line, sorted; the list only shrinks. `test_manifest.py` holds both directions,
`protocol_page.py` makes `docs/protocol.md` of the same entries.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .rules import (
    design_answers,
    design_requests,
    design_workers,
    section_01,
    section_02,
    section_03,
    section_04,
    section_05,
    section_06,
    section_06_dialogue,
    section_06_failures,
    section_07,
    section_08,
    section_09,
    section_09_openapi,
    section_09_update,
    section_09_versions,
    section_10_building,
    section_10_catalog,
    section_10_guard,
    section_10_installs,
    section_10_jobs,
    section_10_settings,
    section_10_state,
)
from .rules.rule import Rule


@dataclass(frozen=True)
class Section:
    """The rules that share the first part of their ids."""

    key: str
    """What the section's ids begin with: `6`, or `d` for the design."""

    title: str
    rules: tuple[Rule, ...]


SECTIONS: Final = (
    Section("1", "One protocol", section_01.RULES),
    Section("2", "The life of a worker", section_02.RULES),
    Section("3", "Processes and models", section_03.RULES),
    Section("4", "The capability document", section_04.RULES),
    Section("5", "Cues and deliveries", section_05.RULES),
    Section(
        "6",
        "Speaking",
        section_06.RULES + section_06_failures.RULES + section_06_dialogue.RULES,
    ),
    Section("7", "Voices", section_07.RULES),
    Section("8", "The worker SDK", section_08.RULES),
    Section(
        "9",
        "Versions",
        section_09.RULES
        + section_09_versions.RULES
        + section_09_update.RULES
        + section_09_openapi.RULES,
    ),
    Section(
        "10",
        "Managing engines",
        section_10_guard.RULES
        + section_10_settings.RULES
        + section_10_installs.RULES
        + section_10_jobs.RULES
        + section_10_state.RULES
        + section_10_catalog.RULES
        + section_10_building.RULES,
    ),
    Section(
        "d",
        "Details",
        design_requests.RULES + design_answers.RULES + design_workers.RULES,
    ),
)

RULES: Final = tuple(rule for section in SECTIONS for rule in section.rules)

OPEN_FILE: Final = Path(__file__).with_name("open.txt")

OPEN_IDS: Final = tuple(OPEN_FILE.read_text(encoding="utf-8").splitlines())
