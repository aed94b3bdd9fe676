"""What an import of the package makes a process wait for, and what it still has afterwards."""

import ast
import inspect
import subprocess
import sys
from itertools import pairwise

import pytest
from rhapsode_contract import Capabilities, Shape, Variant

OF_THREADS = ["Voice"]
"""Shapes that are built at once, since threads make them."""

BUILT = """
def below(shape):
    for child in shape.__subclasses__():
        yield child
        yield from below(child)

def built():
    return sorted(one.__name__ for one in below(Shape) if one.__pydantic_complete__)
"""


def run(script: str) -> list[str]:
    """Returns the words that a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", f"from rhapsode_contract import *\n{BUILT}\n{script}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.split()


def test_no_shape_is_built_by_the_import() -> None:
    assert run("print(*built())") == OF_THREADS


def test_a_shape_is_built_with_its_first_use_and_no_other_with_it() -> None:
    assert run("Segmentation(supported=False); print(*built())") == ["Segmentation", *OF_THREADS]


def test_a_pickled_shape_is_read_and_written_where_none_was_built() -> None:
    pickled = run(
        "import pickle\nprint(pickle.dumps(Streaming(supported=True, granularity='chunk')).hex())"
    )
    script = (
        "import pickle\n"
        f"shape = pickle.loads(bytes.fromhex({pickled[0]!r}))\n"
        "print(*built(), shape.to_json().decode())"
    )
    assert run(script) == [*OF_THREADS, '{"supported":true,"granularity":"chunk"}']


@pytest.mark.parametrize("shape", [Capabilities, Variant])
def test_a_shape_that_nobody_used_has_a_json_schema_all_the_same(shape: type[Shape]) -> None:
    script = f"print(*{shape.__name__}.model_json_schema(by_alias=False)['properties'])"
    assert run(script) == list(shape.model_fields)


def test_what_is_written_under_a_field_can_be_read_from_the_source() -> None:
    # As a page about the wire does it: at every start of every process it would take a tenth.
    docs = field_docs(Variant)
    assert docs["languages"] == "BCP 47 tags, the default first."
    assert "deliveries" not in docs


def field_docs(shape: type[Shape]) -> dict[str, str]:
    """Returns what is written under the fields of one class, its parents' left out."""
    (tree,) = ast.parse(inspect.getsource(shape)).body
    assert isinstance(tree, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(doc.value.value)
        for field, doc in pairwise(tree.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(doc, ast.Expr)
        and isinstance(doc.value, ast.Constant)
        and isinstance(doc.value.value, str)
    }
