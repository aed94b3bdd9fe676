"""`docs/reference/worker.md` says what the docstrings say."""

import re

import rhapsode_worker
from rhapsode_worker import weights

from .worker_page import CHAPTERS, PAGE_FILE, page


def test_the_committed_page_is_the_one_that_the_docstrings_make() -> None:
    assert PAGE_FILE.read_text(encoding="utf-8") == page(), (
        "run `python -m tests.reference.worker_page` in the repository's root"
    )


def test_every_public_name_is_on_the_page_once() -> None:
    told = [name for names in CHAPTERS.values() for _, name in names]
    assert len(told) == len(set(told))
    assert set(told) >= {*rhapsode_worker.__all__, *weights.__all__}


def test_its_links_lead_somewhere() -> None:
    text = PAGE_FILE.read_text(encoding="utf-8")
    headings = {f"#{name.lower()}" for name in re.findall(r"^### `(\w+)`$", text, re.MULTILINE)}
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert target in headings or (PAGE_FILE.parent / target).is_file(), target
