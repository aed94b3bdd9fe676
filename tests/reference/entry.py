"""One public name: what it looks like, and what its source says of it."""

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Final, cast

from rhapsode_contract import RhapsodeError

from .docstring import markdown

ROOT: Final = Path(__file__).parents[2]

_WIDTH: Final = 88


def entry(package: ModuleType, name: str) -> str:
    """Returns what a page says of a public name of a package."""
    thing: object = getattr(package, name)
    if inspect.isclass(thing):
        return _class(name, thing)
    if isinstance(thing, FunctionType):
        node = _parsed(thing)
        assert isinstance(node, ast.FunctionDef)
        return _titled(name, thing.__module__, [*_function(node)])
    return _constant(package, name, thing)


def _class(name: str, thing: type) -> str:
    node = _parsed(thing)
    assert isinstance(node, ast.ClassDef)
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    line = f"class {name}({bases})" if bases else f"class {name}"
    parts = [_code(_marks(node) + line), _documented(node), _answer(thing)]
    fields = list(_fields(node))
    if fields:
        parts.append("\n".join(["Attributes:", "", *fields]))
    for method in _methods(node):
        title = f"{name}(…)" if method.name == "__init__" else f"{name}.{method.name}"
        parts += [f"#### `{title}`", *_function(method)]
    return _titled(name, thing.__module__, parts)


def _answer(thing: type) -> str:
    """Returns what a client gets of an error that is raised."""
    if not issubclass(thing, RhapsodeError):
        return ""
    again = ", and may be tried again" if thing.retryable else ""
    made = f"`{thing.__name__}(message, field=None)`"
    return f"Made as {made}, answered as `{thing.code}` with status {int(thing.status)}{again}."


def _constant(package: ModuleType, name: str, value: object) -> str:
    home = sys.modules[_home(package, name)]
    body = ast.parse(inspect.getsource(home)).body
    shown, text = next(
        (shown, text)
        for target, shown, text in _assigned(body)
        if isinstance(target, ast.Name) and target.id == name
    )
    parts = [_code(shown), markdown(text)]
    if isinstance(value, tuple):
        words = cast("tuple[str, ...]", value)
        parts.append("It holds " + ", ".join(f"`{word}`" for word in words) + ".")
    return _titled(name, home.__name__, parts)


def _home(package: ModuleType, name: str) -> str:
    """Returns the module that a constant is defined in: it does not know it itself."""
    tree = ast.parse(inspect.getsource(package))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(each.name == name for each in node.names):
            assert node.module is not None
            importlib.import_module(node.module)
            return node.module
    raise LookupError(name)


def _titled(name: str, module: str, parts: list[str]) -> str:
    source = sys.modules[module].__file__
    assert source is not None
    path = Path(source).relative_to(ROOT)
    heading = f"### `{name}`\n\n[{module}](../../{path.as_posix()})"
    return "\n\n".join([heading, *filter(None, parts)])


def _function(node: ast.FunctionDef) -> Iterator[str]:
    yield _code(_signature(node))
    yield _documented(node)


def _signature(node: ast.FunctionDef) -> str:
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    parameters = list(_parameters(node.args))
    line = f"def {node.name}({', '.join(parameters)}){result}"
    if len(line) > _WIDTH:
        lines = "".join(f"    {each},\n" for each in parameters)
        line = f"def {node.name}(\n{lines}){result}"
    return _marks(node) + line


def _marks(node: ast.ClassDef | ast.FunctionDef) -> str:
    return "".join(f"@{ast.unparse(mark)}\n" for mark in node.decorator_list)


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    plain, keyword = arguments.args, arguments.kwonlyargs
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    yield from map(_parameter, plain, defaults)
    if arguments.vararg:
        yield f"*{_parameter(arguments.vararg, None)}"
    elif keyword:
        yield "*"
    yield from map(_parameter, keyword, arguments.kw_defaults)


def _parameter(parameter: ast.arg, default: ast.expr | None) -> str:
    typed = ast.unparse(parameter)
    return typed if default is None else f"{typed} = {ast.unparse(default)}"


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Yields what a class offers: a constructor only where it says something of itself."""
    for each in node.body:
        if not isinstance(each, ast.FunctionDef):
            continue
        is_told = each.name == "__init__" and ast.get_docstring(each) is not None
        if is_told or not each.name.startswith("_"):
            yield each


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """Yields what is declared in a class, and what its constructor documents."""
    for target, shown, text in _assigned(node.body):
        if isinstance(target, ast.Name) and not target.id.startswith("_"):
            yield f"- `{shown}`" + (f": {markdown(text)}" if text else "")
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            for target, _, text in _assigned(each.body):
                if isinstance(target, ast.Attribute) and text:
                    yield f"- `{target.attr}`: {markdown(text)}"


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[ast.expr, str, str]]:
    """Yields what is assigned or declared, how, and the string that stands under it."""
    for number, each in enumerate(body):
        if isinstance(each, ast.AnnAssign):
            target = each.target
        elif isinstance(each, ast.Assign):
            (target,) = each.targets
        else:
            continue
        yield target, ast.unparse(each), _string(body[number + 1 : number + 2])


def _string(below: list[ast.stmt]) -> str:
    for node in below:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return str(node.value.value)
    return ""


def _documented(node: ast.ClassDef | ast.FunctionDef) -> str:
    return markdown(ast.get_docstring(node, clean=False) or "")


def _parsed(thing: type | FunctionType) -> ast.stmt:
    return ast.parse(dedent(inspect.getsource(thing))).body[0]


def _code(text: str) -> str:
    return f"```python\n{text}\n```"
