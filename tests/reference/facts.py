"""What the two documents say, fact by fact: within a contract it may be added to, and no more.

`python -m tests.reference.facts` writes those of today into `contract_1.txt`, unless one that
somebody may count on is missing: such a change needs a new contract (section 9).
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from rhapsode.api.openapi.failures import CODES_FIELD
from rhapsode.api.openapi.public import SHAPES, public_document
from rhapsode.api.openapi.schemas import schemas_of_all

from .worker_openapi import worker_document

FILE: Final = Path(__file__).with_name("contract_1.txt")

Node = Mapping[str, Any]

_PROMISE: Final = "promise"
_DEMAND: Final = "demand"


@dataclass(frozen=True)
class Facts:
    """What one side may count on, and what the other has to do."""

    promises: frozenset[str]
    """May only become more."""

    demands: frozenset[str]
    """May only become fewer."""

    def __or__(self, other: "Facts") -> "Facts":
        return Facts(self.promises | other.promises, self.demands | other.demands)

    def lines(self) -> list[str]:
        """Returns a line for each, sorted."""
        kinds = ((_PROMISE, self.promises), (_DEMAND, self.demands))
        return sorted(f"{kind} {fact}" for kind, facts in kinds for fact in facts)


def read_facts(lines: list[str]) -> Facts:
    """Returns the facts that lines tell."""
    told = [line.partition(" ") for line in lines]
    promises, demands = (
        frozenset(fact for kind, _, fact in told if kind == wanted)
        for wanted in (_PROMISE, _DEMAND)
    )
    return Facts(promises, demands)


def broken(before: Facts, now: Facts) -> list[str]:
    """Returns what somebody counts on and is no more, and what is demanded only now."""
    gone = sorted(f"no more: {fact}" for fact in before.promises - now.promises)
    new = [fact for fact in sorted(now.demands - before.demands) if not _is_all_new(fact, before)]
    return gone + [f"only now: {fact}" for fact in new]


def _is_all_new(demand: str, before: Facts) -> bool:
    """Says whether a demand stands in a place that was not there: who never asked lacks nothing."""
    operation, _, needed = demand.partition(" needs ")
    place = operation if needed else demand.rpartition(".")[0]
    return not any(promise.startswith((f"{place}.", f"{place}:")) for promise in before.promises)


def facts_of(document: Node, side: str) -> Facts:
    """Returns what a document says.

    Args:
        document: OpenAPI.
        side: Begins each fact: the same shape may be told to a client and to an engine.
    """
    found = _Finder(document)
    return Facts(
        frozenset(f"{side} {fact}" for fact in found.promises),
        frozenset(f"{side} {fact}" for fact in found.demands),
    )


def facts_today() -> Facts:
    """Returns what both documents say now."""
    public = public_document("", schemas_of_all(SHAPES))
    return facts_of(public, "public") | facts_of(worker_document(), "worker")


class _Finder:
    """Goes through one document."""

    def __init__(self, document: Node) -> None:
        self.promises: set[str] = set()
        self.demands: set[str] = set()
        self._components = cast("Node", document["components"])
        self._asked: set[str] = set()
        for path, item in document["paths"].items():
            for method, operation in item.items():
                self._operation(f"{method.upper()} {path}", operation)
        for name, schema in self._components["schemas"].items():
            self._fields(name, schema, is_asked=name in self._asked)

    def _operation(self, place: str, operation: Node) -> None:
        self.promises.add(f"{place}: {operation['operationId']}")
        for parameter in operation.get("parameters", ()):
            name = f"{place} {parameter['in']} {parameter['name']}"
            self._value(name, parameter["schema"])
            if parameter["required"]:
                self.demands.add(f"{place} needs {parameter['in']} {parameter['name']}")
        body = operation.get("requestBody")
        if body is not None:
            if body["required"]:
                self.demands.add(f"{place} needs a body")
            for media_type, content in body["content"].items():
                self._body(f"{place} takes {media_type}", content, is_asked=True)
        for status, answer in operation["responses"].items():
            self._answer(place, status, answer)

    def _answer(self, place: str, status: str, answer: Node) -> None:
        if "$ref" in answer:
            answer = self._components["responses"][answer["$ref"].rpartition("/")[2]]
        if CODES_FIELD in answer:
            # Which route answers with which may change with what it does.
            self.promises.update(f"{code}: status {status}" for code in answer[CODES_FIELD])
            return
        self.promises.add(f"{place}: status {status}")
        for media_type, content in answer.get("content", {}).items():
            self._body(f"{place} answers {media_type}", content, is_asked=False)

    def _body(self, place: str, content: Node, *, is_asked: bool) -> None:
        schema = content.get("schema", {})
        self._value(place, schema)
        if is_asked:
            self._asked.update(self._reached(schema))
        self._fields(place, schema, is_asked=is_asked)

    def _reached(self, schema: object) -> Iterator[str]:
        """Yields the names of the schemas that one refers to, near or far."""
        if isinstance(schema, dict):
            node = cast("dict[str, object]", schema)
            if isinstance(to := node.get("$ref"), str):
                name = to.rpartition("/")[2]
                yield name
                yield from self._reached(self._components["schemas"][name])
            for value in node.values():
                yield from self._reached(value)
        elif isinstance(schema, list):
            for value in cast("list[object]", schema):
                yield from self._reached(value)

    def _fields(self, place: str, schema: Node, *, is_asked: bool) -> None:
        required = schema.get("required", ())
        for name, held in schema.get("properties", {}).items():
            field = f"{place}.{name}"
            self._value(field, held)
            if name in required:
                (self.demands if is_asked else self.promises).add(f"{field} is needed")
            self._fields(field, held, is_asked=is_asked)
            for option in held.get("anyOf", ()):
                self._fields(field, option, is_asked=is_asked)
        if isinstance(others := schema.get("additionalProperties"), dict):
            self._fields(f"{place}.*", cast("Node", others), is_asked=is_asked)

    def _value(self, place: str, schema: Node) -> None:
        self.promises.add(f"{place}: {_kind(schema)}")
        for option in (schema, *schema.get("anyOf", ()), schema.get("items", {})):
            for position, word in enumerate(option.get("enum", ())):
                # With its place: a new one comes at the end.
                self.promises.add(f"{place}: {word} is {position}")


def _kind(schema: Node) -> str:
    """Returns what a value is, in a word or two."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(option) for option in schema["anyOf"])
    kind = schema.get("type", "anything")
    if "items" in schema:
        kind = f"list of {_kind(schema['items'])}"
    elif "prefixItems" in schema:
        kind = f"list of {', '.join(_kind(item) for item in schema['prefixItems'])}"
    elif isinstance(others := schema.get("additionalProperties"), dict):
        kind = f"map of {_kind(cast('Node', others))}"
    bounds = [f"{name} {schema[name]}" for name in sorted(_BOUNDS & set(schema))]
    return ", ".join([kind, *bounds])


_BOUNDS: Final = frozenset(
    {"const", "format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"minLength", "maxLength", "minItems", "maxItems"}
)


def main() -> None:
    """Writes the file; exits where that would take something away."""
    today = facts_today()
    if FILE.exists():
        lost = broken(read_facts(FILE.read_text(encoding="utf-8").splitlines()), today)
        if lost:
            sys.exit("\n".join(["a new contract is needed:", *lost]))
    FILE.write_text("".join(f"{line}\n" for line in today.lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
