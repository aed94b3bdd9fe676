"""Which marks the reader of sources counts, and which it refuses."""

from pathlib import Path
from textwrap import dedent

import pytest

from .marks import MarkRefused, read_marks, read_tree


def ids_in(source: str) -> list[str]:
    return [mark.id for mark in read_marks(dedent(source))]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            """
            @pytest.mark.contract("6.a")
            def test_it(): ...
            """,
            id="function",
        ),
        pytest.param(
            """
            @pytest.mark.slow
            @pytest.mark.contract("6.a")
            async def test_it(): ...
            """,
            id="coroutine",
        ),
        pytest.param(
            """
            from pytest import mark

            @mark.contract("6.a")
            def test_it(): ...
            """,
            id="mark-imported",
        ),
        pytest.param(
            """
            @pytest.mark.contract("6.a")
            class TestIt:
                def test_one(self): ...
            """,
            id="class",
        ),
        pytest.param(
            """
            class TestIt:
                @pytest.mark.contract("6.a")
                def test_one(self): ...
            """,
            id="method",
        ),
        pytest.param(
            """
            class TestOuter:
                class TestInner:
                    @pytest.mark.contract("6.a")
                    def test_one(self): ...
            """,
            id="nested-class",
        ),
        pytest.param(
            """
            pytestmark = [pytest.mark.anyio, pytest.mark.contract("6.a")]

            def test_it(): ...
            """,
            id="module",
        ),
        pytest.param(
            """
            class TestIt:
                pytestmark = pytest.mark.contract("6.a")

                def test_one(self): ...
            """,
            id="class-pytestmark",
        ),
        pytest.param(
            """
            @pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.contract("6.a"))])
            def test_it(n): ...
            """,
            id="parameter",
        ),
        pytest.param(
            """
            CASES = [pytest.param(2, marks=[pytest.mark.slow, pytest.mark.contract("6.a")])]

            @pytest.mark.parametrize("n", CASES)
            def test_it(n): ...
            """,
            id="parameter-in-a-constant",
        ),
    ],
)
def test_a_mark_that_pytest_applies_to_a_test_counts(source: str) -> None:
    assert ids_in(source) == ["6.a"]


def test_one_mark_may_name_several_rules() -> None:
    source = """
    @pytest.mark.contract("6.a", "6.b")
    @pytest.mark.contract("6.c")
    def test_it(): ...
    """
    assert ids_in(source) == ["6.a", "6.b", "6.c"]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param('# @pytest.mark.contract("6.a")\ndef test_it(): ...', id="comment"),
        pytest.param('SOURCE = """@pytest.mark.contract("6.a")"""', id="string"),
        pytest.param('def test_it():\n    """@pytest.mark.contract("6.a")"""', id="docstring"),
        pytest.param('@pytest.mark.other("6.a")\ndef test_it(): ...', id="another-mark"),
        pytest.param('@contract("6.a")\ndef test_it(): ...', id="another-name"),
    ],
)
def test_what_only_looks_like_a_mark_does_not_count(source: str) -> None:
    assert ids_in(source) == []


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            """
            @pytest.mark.contract("6.a")
            def helper(): ...
            """,
            id="function-that-is-no-test",
        ),
        pytest.param(
            """
            @pytest.mark.contract("6.a")
            class TestNothing:
                def helper(self): ...
            """,
            id="class-without-tests",
        ),
        pytest.param(
            """
            class Base:
                @pytest.mark.contract("6.a")
                def helper(self): ...
            """,
            id="method-that-is-no-test",
        ),
        pytest.param(
            """
            pytestmark = pytest.mark.contract("6.a")
            """,
            id="module-without-tests",
        ),
        pytest.param(
            """
            def test_it(request):
                request.applymarker(pytest.mark.contract("6.a"))
            """,
            id="inside-a-test",
        ),
        pytest.param(
            """
            @pytest.mark.contract
            def test_it(): ...
            """,
            id="not-called",
        ),
        pytest.param(
            """
            @pytest.mark.contract()
            def test_it(): ...
            """,
            id="no-id",
        ),
        pytest.param(
            """
            @pytest.mark.contract(RULE)
            def test_it(): ...
            """,
            id="name-for-an-id",
        ),
        pytest.param(
            """
            @pytest.mark.contract(f"6.{NAME}")
            def test_it(): ...
            """,
            id="computed-id",
        ),
    ],
)
def test_a_mark_that_would_prove_nothing_is_refused(source: str) -> None:
    with pytest.raises(MarkRefused):
        ids_in(source)


def test_marks_are_read_from_the_tests_of_the_repository_and_of_each_package(
    tmp_path: Path,
) -> None:
    source = '@pytest.mark.contract("{}")\ndef test_it(): ...\n'
    for where, id in {
        "tests/deep/er/test_a.py": "6.a",
        "packages/one/tests/test_b.py": "6.b",
        "packages/one/src/one/test_c.py": "6.c",
    }.items():
        (tmp_path / where).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / where).write_text(source.format(id), encoding="utf-8")
    assert read_tree(tmp_path) == {
        "6.a": ["tests/deep/er/test_a.py:1"],
        "6.b": ["packages/one/tests/test_b.py:1"],
    }


def test_a_refused_mark_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    source = "@pytest.mark.contract()\ndef test_it(): ...\n"
    (tmp_path / "tests/test_a.py").write_text(source, encoding="utf-8")
    with pytest.raises(MarkRefused) as refused:
        read_tree(tmp_path)
    assert refused.value.__notes__ == ["in tests/test_a.py"]
