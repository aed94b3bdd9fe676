"""Operations and schemas put together into one OpenAPI document: a function of values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rhapsode_contract import ErrorBody, Shape
from rhapsode_http import REQUEST_ID_HEADER

from rhapsode.api.openapi.failures import failures_of, responses_of
from rhapsode.api.openapi.operation import Answer, Body, Content, Operation, shapes_of
from rhapsode.api.openapi.schemas import Node, content_schema

OPENAPI: Final = "3.1.0"
"""The version of the language."""

_TOKEN: Final = "token"

_HEADERS: Final = {REQUEST_ID_HEADER: {"$ref": "#/components/headers/RequestId"}}
"""On every answer."""


@dataclass(frozen=True)
class About:
    """What a document says of itself."""

    title: str

    version: str

    description: str
    """In Markdown."""

    tags: Mapping[str, str]
    """What each group of operations is about, in order."""

    token: str
    """What the bearer token of guarded operations is."""


def shapes_in(
    operations: Iterable[Operation], others: Iterable[type[Shape]] = ()
) -> list[type[Shape]]:
    """Returns every shape that a document has to hold, each once.

    Args:
        operations: What it describes.
        others: Shapes that no body is made of as a whole.
    """
    used = [shape for operation in operations for shape in shapes_of(operation)]
    return list(dict.fromkeys([ErrorBody, *used, *others]))


def document(
    about: About, operations: Sequence[Operation], schemas: Mapping[str, Node]
) -> dict[str, Any]:
    """Returns an OpenAPI document as JSON values.

    Args:
        about: What it says of itself.
        operations: What it describes.
        schemas: By name; every one that an operation or another schema refers to.
    """
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": OPENAPI,
        "info": {
            "title": about.title,
            "version": about.version,
            "description": about.description,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": words} for name, words in about.tags.items()],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": responses_of(operations, _HEADERS),
            "headers": {
                "RequestId": {
                    "description": "Ties this answer to the lines of the server's log. The id that "
                    "the request came with, where it had one.",
                    "required": True,
                    "schema": {"type": "string"},
                }
            },
            "securitySchemes": {
                _TOKEN: {"type": "http", "scheme": "bearer", "description": about.token}
            },
        },
    }


def _operation(operation: Operation) -> Node:
    said: Node = {"operationId": operation.name, "tags": [operation.tag]}
    said["summary"] = operation.summary
    if operation.description:
        said["description"] = operation.description
    if operation.parameters:
        said["parameters"] = [parameter.to_openapi() for parameter in operation.parameters]
    if operation.body is not None:
        said["requestBody"] = _body(operation.body)
    answer = operation.answer
    said["responses"] = {
        str(int(answer.status)): _answer(answer),
        **failures_of(operation, _HEADERS),
    }
    if operation.is_guarded:
        said["security"] = [{}, {_TOKEN: []}]
    return said


def _body(body: Body) -> Node:
    said: Node = {"description": body.description} if body.description else {}
    return {**said, "required": body.is_required, "content": _content(body.content)}


def _answer(answer: Answer) -> Node:
    said: Node = {"description": answer.description, "headers": {**_HEADERS, **answer.headers}}
    if answer.content:
        said["content"] = _content(answer.content)
    return {**said, **answer.notes}


def _content(content: Mapping[str, Content]) -> Node:
    made: Node = {}
    for media_type, each in content.items():
        schema = content_schema(each)
        made[media_type] = {"schema": schema} if schema else {}
    return made
