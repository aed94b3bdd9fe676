"""What the document describes: everything public, nothing else, and in valid OpenAPI."""

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from typing import Any, Final, cast

import pytest
import rhapsode.api
from openapi_spec_validator import OpenAPIV31SpecValidator
from rhapsode.api.guard.management import is_management
from rhapsode.api.openapi.failures import CODES_FIELD, WORDS
from rhapsode.api.openapi.public import OPERATIONS, SHAPES, public_document
from rhapsode.api.openapi.public import WORDS as FIELD_WORDS
from rhapsode.api.openapi.schemas import schemas_of_all
from rhapsode.api.openapi.settings import PATCH_NAME
from rhapsode_contract import ERRORS, ErrorCode
from starlette.routing import Route

DOCUMENT: Final = public_document("1.2.3", schemas_of_all(SHAPES))

SCHEMAS: Final[dict[str, Any]] = DOCUMENT["components"]["schemas"]

UNDESCRIBED: Final = {("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp")}
"""One endpoint whose operations are its tools, which it lists itself."""


def described() -> set[tuple[str, str]]:
    return {(operation.method, operation.path) for operation in OPERATIONS}


def built() -> set[tuple[str, str]]:
    """Every route that a module of the public API has."""
    found: set[tuple[str, str]] = set()
    for module in pkgutil.walk_packages(rhapsode.api.__path__, "rhapsode.api."):
        for route in getattr(importlib.import_module(module.name), "routes", ()):
            assert isinstance(route, Route) and route.methods is not None
            found |= {(method, route.path) for method in route.methods - {"HEAD"}}
    return found


def texts(node: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a document, with the key it stands under."""
    if isinstance(node, dict):
        for name, value in cast("dict[str, object]", node).items():
            yield from texts(value, name)
    elif isinstance(node, list):
        for value in cast("list[object]", node):
            yield from texts(value, key)
    elif isinstance(node, str):
        yield key, node


@pytest.mark.contract("9.openapi.served")
def test_it_is_valid_openapi() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    errors = [error.message for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()]
    assert errors == []


@pytest.mark.contract("9.openapi.public")
def test_every_route_that_is_served_is_described_and_no_other() -> None:
    assert described() == built() - UNDESCRIBED


@pytest.mark.contract("9.openapi.public")
def test_no_route_of_a_worker_is_described() -> None:
    paths = {path for _, path in described()}
    assert not paths & {"/load", "/unload", "/terminate", "/fetch", "/voices", "/capabilities"}
    assert SCHEMAS["PublicSpeakRequest"]["required"] == ["text", "engine"]


@pytest.mark.contract("9.openapi.public")
def test_whoever_reads_it_does_not_learn_that_there_are_workers() -> None:
    # The settings say it: they have a section of that name, and so has the summary of an engine.
    others = {name: schema for name, schema in SCHEMAS.items() if name != PATCH_NAME}
    shown: list[object] = [DOCUMENT["info"], DOCUMENT["tags"], DOCUMENT["paths"], others]
    told = [text for key, text in texts(shown) if key in ("description", "summary")]
    assert [text for text in told if re.search(r"worker|adapter|None\b|§", text)] == []


@pytest.mark.contract("9.openapi.public")
def test_what_asks_who_calls_says_so() -> None:
    for operation in OPERATIONS:
        assert operation.is_guarded is is_management(operation.method, operation.path)
        said = DOCUMENT["paths"][operation.path][operation.method.lower()]
        assert ("security" in said) is operation.is_guarded
        assert ("403" in said["responses"]) is operation.is_guarded


def test_a_parameter_of_a_path_is_described_and_so_is_its_group() -> None:
    tags = {tag["name"] for tag in DOCUMENT["tags"]}
    for operation in OPERATIONS:
        in_path = {one.name for one in operation.parameters if one.where == "path"}
        assert in_path == set(re.findall(r"{(\w+)}", operation.path))
        assert operation.tag in tags


def test_no_two_operations_have_one_name() -> None:
    names = [operation.name for operation in OPERATIONS]
    assert len(names) == len(set(names))


@pytest.mark.contract("9.openapi.true")
def test_every_error_has_its_envelope_its_codes_and_their_status() -> None:
    named = DOCUMENT["components"]["responses"]
    for item in DOCUMENT["paths"].values():
        for operation in item.values():
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    continue
                answer = named[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
                schema = answer["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorBody"}
                statuses = {
                    str(int(ERRORS[ErrorCode(code)].status)) for code in answer[CODES_FIELD]
                }
                assert statuses == {status} or (status, statuses) == ("404", {"400"})


def test_every_code_is_explained() -> None:
    assert set(WORDS) == set(ErrorCode)


def test_words_are_said_of_fields_that_are_there() -> None:
    for shape, field in FIELD_WORDS:
        assert field in SCHEMAS[shape]["properties"]


def test_every_schema_that_is_held_is_used() -> None:
    used = {text.rpartition("/")[2] for key, text in texts(DOCUMENT) if key == "$ref"}
    assert set(SCHEMAS) <= used


@pytest.mark.contract("9.openapi.version")
def test_its_version_is_that_of_whoever_serves_it() -> None:
    assert DOCUMENT["info"]["version"] == "1.2.3"


def test_it_is_json() -> None:
    assert json.loads(json.dumps(DOCUMENT, allow_nan=False)) == DOCUMENT
