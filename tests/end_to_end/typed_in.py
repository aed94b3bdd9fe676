"""A program put together from the pieces of a tutorial, as its reader types them in.

A piece that is indented belongs into the class, in place of what has its name there. Any other goes
above the class, its imports to the top.
"""

import ast
from collections.abc import Sequence


def typed_in(program: str, piece: str) -> str:
    """Returns `program` with a piece put into it."""
    module = ast.parse(program)
    if piece.startswith("    "):
        members = _class_of(ast.parse(f"class Piece:\n{piece}")).body
        body = _class_of(module).body
        for member in members:
            _put(member, body, before=len(body))
    else:
        for statement in reversed(ast.parse(piece).body):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                module.body.insert(0, statement)
            else:
                _put(statement, module.body, before=module.body.index(_class_of(module)))
    return ast.unparse(ast.fix_missing_locations(module))


def content(program: str) -> set[str]:
    """Returns what a program holds, whatever the order: its imports, statements and methods."""
    module = ast.parse(program)
    buzz = _class_of(module)
    rest = [each for each in module.body if each is not buzz and not _is_docstring(each)]
    found = {ast.unparse(each) for each in [*buzz.body, *rest] if not _is_import(each)}
    for statement in rest:
        if isinstance(statement, ast.Import):
            found |= {f"import {alias.name}" for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            found |= {f"from {statement.module} import {alias.name}" for alias in statement.names}
    return found


def _put(statement: ast.stmt, body: list[ast.stmt], *, before: int) -> None:
    names = [_name(each) for each in body]
    name = _name(statement)
    if name is not None and name in names:
        body[names.index(name)] = statement
    else:
        body.insert(before, statement)


def _name(statement: ast.stmt) -> str | None:
    """Returns the name that a statement defines, where it defines one."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    if isinstance(statement, ast.Assign):
        return _target(statement.targets)
    return None


def _target(targets: Sequence[ast.expr]) -> str | None:
    return targets[0].id if isinstance(targets[0], ast.Name) else None


def _class_of(module: ast.Module) -> ast.ClassDef:
    return next(each for each in module.body if isinstance(each, ast.ClassDef))


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
