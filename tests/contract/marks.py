"""The contract marks in the sources of tests, read without running or importing them.

Reading makes the answer independent of which tests a run selects. A mark counts where pytest would
apply it to a test: as a decorator of a test or of a class of tests, in a `pytestmark`, or in the
`marks` of a `pytest.param`. Anywhere else it would prove nothing, and is refused.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mark:
    """One id that one test, class or module is marked with."""

    id: str
    line: int


class MarkRefused(Exception):
    """A contract mark that proves nothing, or whose ids can't be read; names line and reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")


def read_marks(source: str) -> list[Mark]:
    """Return the contract marks in a module's source, in the order of its lines.

    Raises:
        MarkRefused: a mark stands where pytest applies it to no test, or its ids are not literal
            strings.
    """
    tree = ast.parse(source)
    counted = list(_marks_that_count(tree.body, has_tests=_has_tests(tree.body)))
    calls = [node for node in counted if isinstance(node, ast.Call)]
    read = {id(call.func) for call in calls}
    for node in ast.walk(tree):
        if _is_contract_mark(node) and id(node) not in read:
            raise MarkRefused(node.lineno, "this contract mark applies to no test")
    marks = [mark for call in calls for mark in _ids_of(call)]
    return sorted(marks, key=lambda mark: mark.line)


def read_tree(root: Path) -> dict[str, list[str]]:
    """Return, for each marked id below `root`, where it is marked, as `path:line`.

    Reads `tests/` and each package's `tests/`.

    Raises:
        MarkRefused: as `read_marks`, its file named in a note.
    """
    places: dict[str, list[str]] = {}
    for path in sorted([*root.glob("tests/**/*.py"), *root.glob("packages/*/tests/**/*.py")]):
        where = path.relative_to(root).as_posix()
        try:
            marks = read_marks(path.read_text(encoding="utf-8"))
        except MarkRefused as refused:
            refused.add_note(f"in {where}")
            raise
        for mark in marks:
            places.setdefault(mark.id, []).append(f"{where}:{mark.line}")
    return places


def _marks_that_count(body: list[ast.stmt], *, has_tests: bool) -> Iterator[ast.AST]:
    """Yield the calls of marks in a module's or a class's body that pytest applies to a test."""
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if _is_test(statement):
                    yield from _mark_calls(*statement.decorator_list)
            case ast.ClassDef():
                in_class = _is_test_class(statement)
                if in_class:
                    yield from _mark_calls(*statement.decorator_list)
                yield from _marks_that_count(statement.body, has_tests=in_class)
            case ast.Assign() | ast.AnnAssign():
                if has_tests or not _assigns_pytestmark(statement):
                    yield from _mark_calls(statement)
            case _:
                pass


def _mark_calls(*nodes: ast.AST) -> Iterator[ast.Call]:
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Call) and _is_contract_mark(node.func):
                yield node


def _ids_of(call: ast.Call) -> Iterator[Mark]:
    if not call.args or call.keywords:
        raise MarkRefused(call.lineno, "a contract mark takes one or more ids")
    for argument in call.args:
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            raise MarkRefused(argument.lineno, "the ids of a contract mark are literal strings")
        yield Mark(argument.value, argument.lineno)


def _is_contract_mark(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is `pytest.mark.contract` or, with `mark` imported, `mark.contract`."""
    return isinstance(node, ast.Attribute) and ast.unparse(node) in {
        "pytest.mark.contract",
        "mark.contract",
    }


def _has_tests(body: list[ast.stmt]) -> bool:
    return any(_is_test(statement) or _is_test_class(statement) for statement in body)


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, Function) and node.name.startswith("test")


def _is_test_class(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and node.name.startswith("Test") and _has_tests(node.body)


def _assigns_pytestmark(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets)
