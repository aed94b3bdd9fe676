"""Within a contract, what the documents say is only added to."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

import pytest
from rhapsode.api.openapi.failures import CODES_FIELD
from rhapsode_contract import CONTRACT

from .facts import FILE, broken, facts_of, facts_today, read_facts
from .worker_openapi import worker_document

WORKERS: Final = worker_document()

Edit = Callable[[dict[str, Any]], object]


def after(edit: Edit) -> list[str]:
    """Returns what is broken once a document was edited."""
    edited = deepcopy(WORKERS)
    edit(edited)
    return broken(facts_of(WORKERS, "worker"), facts_of(edited, "worker"))


def schema(document: dict[str, Any], name: str) -> Any:
    return document["components"]["schemas"][name]


def field(document: dict[str, Any], name: str, field: str) -> Any:
    return schema(document, name)["properties"][field]


LOSSES: Final[list[tuple[Edit, str]]] = [
    (
        lambda it: schema(it, "Health")["properties"].pop("variant"),
        "no more: worker Health.variant: string",
    ),
    (
        lambda it: field(it, "Health", "variant").update(type="integer"),
        "no more: worker Health.variant: string",
    ),
    (
        lambda it: schema(it, "Health")["required"].remove("device"),
        "no more: worker Health.device is needed",
    ),
    (
        lambda it: field(it, "Health", "process")["enum"].remove("draining"),
        "no more: worker Health.process: draining is 1",
    ),
    (
        lambda it: field(it, "Health", "process")["enum"].insert(0, "new"),
        "no more: worker Health.process: up is 0",
    ),
    (
        lambda it: schema(it, "SpeakRequest")["required"].append("voice"),
        "only now: worker SpeakRequest.voice is needed",
    ),
    (
        lambda it: field(it, "SpeakRequest", "voice")["anyOf"].pop(1),
        "no more: worker SpeakRequest.voice: string or null",
    ),
    (
        lambda it: field(it, "FetchRequest", "variant").update(minLength=2),
        "no more: worker FetchRequest.variant: string, minLength 1",
    ),
    (
        lambda it: it["paths"].pop("/fetch"),
        "no more: worker POST /fetch: fetch",
    ),
    (
        lambda it: it["paths"]["/load"]["post"]["requestBody"].update(required=True),
        "only now: worker POST /load needs a body",
    ),
    (
        lambda it: it["paths"]["/speak"]["post"]["responses"]["200"]["content"].pop("audio/wav"),
        "no more: worker POST /speak answers audio/wav: anything",
    ),
    (
        lambda it: it["components"]["responses"]["Internal"].update({CODES_FIELD: ["broken"]}),
        "no more: worker internal: status 500",
    ),
]

ADDITIONS: Final[list[Edit]] = [
    lambda it: schema(it, "Health")["properties"].update(mood={"type": "string"}),
    lambda it: field(it, "Health", "process")["enum"].append("asleep"),
    lambda it: schema(it, "Health")["required"].append("variant"),
    lambda it: schema(it, "SpeakRequest")["properties"].update(mood={"type": "string"}),
    lambda it: schema(it, "SpeakRequest")["required"].remove("text"),
    lambda it: it["paths"].update({"/sing": it["paths"]["/fetch"]}),
    lambda it: schema(it, "Health").update(description="Otherwise."),
]


@pytest.mark.contract("9.additive.shapes")
def test_nothing_that_this_contract_once_said_is_taken_away_or_changed() -> None:
    assert FILE.name == f"contract_{CONTRACT}.txt"
    said = read_facts(FILE.read_text(encoding="utf-8").splitlines())
    assert broken(said, facts_today()) == []


def test_what_was_added_is_written_down_so_that_it_stays() -> None:
    assert FILE.read_text(encoding="utf-8").splitlines() == facts_today().lines(), (
        "run `python -m tests.reference.facts` in the repository's root"
    )


@pytest.mark.contract("9.additive.shapes")
@pytest.mark.parametrize(("edit", "expected"), LOSSES)
def test_what_somebody_counts_on_is_missed(edit: Edit, expected: str) -> None:
    assert expected in after(edit)


@pytest.mark.parametrize("edit", ADDITIONS)
def test_what_is_added_breaks_nothing(edit: Edit) -> None:
    assert after(edit) == []


def test_a_new_field_that_every_request_must_have_breaks_who_asks_without_it() -> None:
    def edit(document: dict[str, Any]) -> None:
        schema(document, "SpeakRequest")["properties"]["mood"] = {"type": "string"}
        schema(document, "SpeakRequest")["required"].append("mood")

    assert after(edit) == ["only now: worker SpeakRequest.mood is needed"]


def test_facts_read_as_they_were_written() -> None:
    today = facts_today()
    assert read_facts(today.lines()) == today
