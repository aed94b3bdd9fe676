"""What is said of one route and method: values, which `document.py` puts into OpenAPI's words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Literal

from rhapsode_contract import ErrorCode, Shape

Schema = Mapping[str, Any]
"""A JSON Schema."""

STRING: Final[Schema] = {"type": "string"}


@dataclass(frozen=True)
class Each:
    """A list of one shape."""

    shape: type[Shape]


Content = type[Shape] | Each | Schema
"""What a body of one media type is; an empty schema is bytes."""


@dataclass(frozen=True)
class Parameter:
    """A value in the path, the query or a header."""

    name: str
    where: Literal["path", "query", "header"]
    description: str
    schema: Schema = field(default_factory=lambda: STRING)

    def to_openapi(self) -> dict[str, Any]:
        """Returns OpenAPI's parameter object."""
        return {
            "name": self.name,
            "in": self.where,
            "required": self.where == "path",
            "description": self.description,
            "schema": dict(self.schema),
        }


@dataclass(frozen=True)
class Body:
    """What a request carries."""

    content: Mapping[str, Content]
    """By media type."""

    description: str = ""
    is_required: bool = True


@dataclass(frozen=True)
class Answer:
    """One success."""

    description: str
    content: Mapping[str, Content] = field(default_factory=dict[str, Content])
    """By media type; none where there is no body."""

    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    """Header objects besides the id of the request."""

    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields of the answer that OpenAPI has no word for; their names begin with `x-`."""


@dataclass(frozen=True)
class Operation:
    """One route and method."""

    method: Literal["GET", "POST", "PATCH", "DELETE"]

    path: str
    """With parameters in braces, as the router has it."""

    name: str
    """Its `operationId`: what a generated client calls it. For ever, like a path."""

    tag: str

    summary: str
    """A few words."""

    answer: Answer

    errors: tuple[ErrorCode, ...] = ()
    """Those that follow from what it does; what any route may answer is added."""

    description: str = ""
    """Whatever else a caller has to know, in Markdown."""

    parameters: tuple[Parameter, ...] = ()

    body: Body | None = None

    is_guarded: bool = False
    """Whether it asks who calls."""

    unknown_path: str = ""
    """What is not there where it answers 404 with `bad_request`; empty where it never does."""


def shapes_of(operation: Operation) -> list[type[Shape]]:
    """Returns the shapes of an operation's bodies."""
    bodies = [*operation.answer.content.values()]
    if operation.body is not None:
        bodies += operation.body.content.values()
    shapes = [body.shape if isinstance(body, Each) else body for body in bodies]
    return [shape for shape in shapes if isinstance(shape, type)]
