"""JSON Schemas of the contract's models, as OpenAPI 3.1 holds them."""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, cast, get_args

from rhapsode_contract import Request, Shape

from rhapsode.api.openapi.operation import Content, Each

PLACE: Final = "#/components/schemas/"

Node = dict[str, Any]

_BOUNDS: Final = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
}
"""pydantic leaves its own word for a bound of a type that has a validator before it."""


def content_schema(content: Content) -> Node:
    """Returns what stands for a body's content: a reference, a list of those, or the schema."""
    if isinstance(content, Each):
        return {"type": "array", "items": _reference(content.shape)}
    if isinstance(content, Mapping):
        return dict(content)
    return _reference(content)


def schemas_of(shape: type[Shape]) -> dict[str, Node]:
    """Returns the schemas of a shape and of those it holds, by name.

    Building one model takes a millisecond or two: who has to answer others meanwhile does one at
    a time.
    """
    made = shape.model_json_schema(ref_template=PLACE + "{model}")
    held: dict[str, Node] = made.pop("$defs", {})
    models = {model.__name__: model for model in _models_in(shape)}
    return {
        name: _tidied(models[name], schema)
        for name, schema in {shape.__name__: made, **held}.items()
    }


def schemas_of_all(shapes: Iterable[type[Shape]]) -> dict[str, Node]:
    """Returns the schemas of many shapes and of those they hold, by name."""
    return {name: schema for shape in shapes for name, schema in schemas_of(shape).items()}


def _reference(shape: type[Shape]) -> Node:
    return {"$ref": PLACE + shape.__name__}


def _models_in(shape: type[Shape]) -> Iterator[type[Shape]]:
    """Yields a shape and all that its fields hold, some of them more than once."""
    yield shape
    for info in shape.model_fields.values():
        for part in _parts(info.annotation):
            yield from _models_in(part)


def _parts(annotation: object) -> Iterator[type[Shape]]:
    if isinstance(annotation, type) and issubclass(annotation, Shape):
        yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)


def _tidied(model: type[Shape], schema: Node) -> Node:
    """Returns a model's schema with the words of its fields, and without pydantic's own.

    A field of an answer is absent rather than null, so null is no value of it. One of a request
    may be null, which is the same as leaving it out.
    """
    tidy = plain(schema)
    words = _words_of(model)
    is_asked = issubclass(model, Request)
    properties: dict[str, Node] = {}
    for name, value in tidy.get("properties", {}).items():
        kept = value if is_asked else _without_null(value)
        said = {"description": words[name]} if name in words else {}
        properties[name] = {**kept, **said}
    described = {"description": first_paragraph(model.__doc__ or "")}
    return {**tidy, **described, **({"properties": properties} if properties else {})}


def plain(node: Node) -> Node:
    """Returns a schema without titles and defaults of null, its bounds in JSON Schema's words."""
    made: Node = {}
    for key, value in node.items():
        if key == "title" or (key == "default" and value is None):
            continue
        if key == "properties":
            made[key] = {name: plain(schema) for name, schema in value.items()}
        elif isinstance(value, dict):
            made[key] = plain(cast("Node", value))
        elif key in ("anyOf", "allOf", "oneOf", "prefixItems"):
            made[key] = [plain(schema) for schema in value]
        else:
            made[_BOUNDS.get(key, key)] = value
    return made


def _without_null(schema: Node) -> Node:
    options: list[Node] = [
        option for option in schema.get("anyOf", ()) if option != {"type": "null"}
    ]
    if not options:
        return schema
    others = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**others, **(options[0] if len(options) == 1 else {"anyOf": options})}


def _words_of(model: type[Shape]) -> dict[str, str]:
    """Returns what the source says under each field, by its name on the wire."""
    words: dict[str, str] = {}
    for ancestor in reversed(model.__mro__):
        if issubclass(ancestor, Shape):
            words |= _words_in_module(ancestor.__module__).get(ancestor.__name__, {})
    fields = model.model_fields
    return {fields[name].alias or name: text for name, text in words.items() if name in fields}


@cache
def _words_in_module(module: str) -> Mapping[str, Mapping[str, str]]:
    """Returns what a module says under each field, by the name of the class."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:  # installed without its source: the words are missing, the shapes are there
        return {}
    return {node.name: _words_under(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _words_under(definition: ast.ClassDef) -> dict[str, str]:
    words: dict[str, str] = {}
    for field, after in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match after:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    words[field.target.id] = first_paragraph(text)
                case _:
                    pass
    return words


def first_paragraph(text: str) -> str:
    """Returns the first paragraph of a docstring in one line."""
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())
