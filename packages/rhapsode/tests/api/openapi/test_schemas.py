"""Schemas of the contract's models."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rhapsode.api.openapi.public import SHAPES
from rhapsode.api.openapi.schemas import content_schema, schemas_of, schemas_of_all
from rhapsode.api.openapi.settings import patch_schema
from rhapsode_contract import (
    Capabilities,
    InstallJob,
    JobEvent,
    PublicSpeakRequest,
    PullRequest,
    Request,
    UpdateStatus,
)


def properties(shape: Any) -> dict[str, Any]:
    return schemas_of(shape)[shape.__name__]["properties"]


def test_a_field_of_an_answer_is_absent_rather_than_null() -> None:
    for shape in SHAPES:
        if not issubclass(shape, Request):
            assert '"null"' not in repr(schemas_of(shape)).replace("'", '"'), shape


def test_a_field_of_a_request_may_be_null_which_is_leaving_it_out() -> None:
    assert {"type": "null"} in properties(PublicSpeakRequest)["voice"]["anyOf"]


def test_a_request_refuses_what_it_does_not_know_and_an_answer_does_not() -> None:
    assert schemas_of(PublicSpeakRequest)["PublicSpeakRequest"]["additionalProperties"] is False
    assert "additionalProperties" not in schemas_of(UpdateStatus)["UpdateStatus"]


def test_bounds_are_said_in_the_words_of_json_schema() -> None:
    whole = properties(PublicSpeakRequest)["keepAliveSeconds"]["anyOf"][0]
    assert whole == {"type": "integer", "minimum": -1, "maximum": 3_153_600_000}
    assert properties(PullRequest)["variant"] == {"type": "string", "minLength": 1}


def test_a_moment_is_a_date_and_a_time() -> None:
    assert properties(InstallJob)["createdAt"] == {"type": "string", "format": "date-time"}


def test_a_field_is_described_by_what_the_source_says_under_it() -> None:
    assert properties(PublicSpeakRequest)["format"]["description"].startswith("From the engine's")
    assert properties(Capabilities)["contract"].keys() == {"type"}


def test_what_a_shape_holds_comes_with_it() -> None:
    assert {"Capabilities", "Current", "Dial", "License"} <= set(schemas_of(Capabilities))


def test_pydantics_titles_are_left_out_and_a_field_of_that_name_is_not() -> None:
    class Book(JobEvent):
        title: str

    assert properties(Book)["title"] == {"type": "string"}
    assert "title" not in properties(Book)["message"]


@pytest.mark.parametrize(
    ("patch", "is_one"),
    [
        ({}, True),
        ({"residency": {"keepAliveSeconds": 60}, "update": {"check": None}}, True),
        ({"engines": {"kokoro": {"keepAliveSeconds": -1}}}, True),
        ({"residency": {"maxResidentModels": 0}}, False),
        ({"residency": {"keepAlive": 60}}, False),
        ({"management": {"tokenSet": True}}, False),
        ({"engines": {"kokoro": {"venv": "/"}}}, False),
        ({"colours": {}}, False),
    ],
)
def test_a_change_of_settings_is_described_to_the_last_of_them(
    patch: dict[str, Any], is_one: bool
) -> None:
    validator: Any = Draft202012Validator(patch_schema())
    assert validator.is_valid(patch) is is_one


def test_every_schema_is_one() -> None:
    for name, schema in schemas_of_all(SHAPES).items():
        Draft202012Validator.check_schema(schema)
        assert name.isidentifier()
    assert content_schema({}) == {}
