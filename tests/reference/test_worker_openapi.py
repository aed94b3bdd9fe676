"""`docs/openapi.worker.yaml` says what the contract's models say, and what workers serve."""

from typing import Any, cast

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from openapi_spec_validator.readers import read_from_filename
from rhapsode_conform.checks.routes import ROUTES
from rhapsode_contract import CONTRACT

from .worker_openapi import FILE, OPERATIONS, worker_document, yaml_text


@pytest.mark.contract("9.openapi.worker")
def test_the_committed_document_is_the_one_that_the_models_make() -> None:
    assert FILE.read_text(encoding="utf-8") == yaml_text(worker_document()), (
        "run `python -m tests.reference.worker_openapi` in the repository's root"
    )


def test_it_reads_as_what_was_written() -> None:
    read, _ = read_from_filename(str(FILE))
    assert cast("dict[str, Any]", read) == worker_document()


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"a": {}},
        {"a": []},
        {
            "a": [
                {"b": 1, "c": [2, [3, 4]]},
                "no",
                "1",
                "1.5",
                "null",
                "~",
                "",
                " x",
                "a: b",
                "a #b",
            ]
        },
        {"404": True, "yes": None, "a\nb": 'say "hi"\n', "x-y": -9223372036854775808},
    ],
)
def test_whatever_is_written_reads_the_same(value: Any, tmp_path: Any) -> None:
    file = tmp_path / "document.yaml"
    file.write_text(yaml_text({"it": value}), encoding="utf-8")
    read, _ = read_from_filename(str(file))
    assert read == {"it": value}


def test_it_is_valid_openapi_of_the_contracts_version() -> None:
    document = worker_document()
    errors = [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]
    assert errors == []
    assert document["info"]["version"] == str(CONTRACT)


@pytest.mark.contract("9.openapi.worker")
def test_it_has_every_route_that_a_worker_must_have() -> None:
    assert {(operation.path, operation.method) for operation in OPERATIONS} >= set(ROUTES.items())
    # It is asked of an engine without voices, too, to which the conformance tool cannot say these.
    others = {operation.path for operation in OPERATIONS} - set(ROUTES)
    assert others == {"/voices/{voice}", "/voices/{voice}/preview"}
