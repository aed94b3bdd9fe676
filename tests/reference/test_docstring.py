"""Docstrings in the house's form become Markdown."""

from .docstring import markdown


def test_a_paragraph_is_one_line() -> None:
    assert (
        markdown("One\n    and the same.\n\n    Another.\n    ") == "One and the same.\n\nAnother."
    )


def test_a_section_is_a_list_with_names_in_code_font() -> None:
    docstring = """Does it.

    Args:
        first: What it is
            made of.
        **others: The rest.

    Raises:
        ValueError: It is wrong: very.
        MemoryError, or what says so: There is none.
    """
    assert markdown(docstring) == (
        "Does it.\n\n"
        "Args:\n\n- `first`: What it is made of.\n- `**others`: The rest.\n\n"
        "Raises:\n\n- `ValueError`: It is wrong: very.\n"
        "- MemoryError, or what says so: There is none."
    )


def test_a_docstring_may_begin_with_its_arguments() -> None:
    assert markdown("Args:\n        one: The first.\n        ") == "Args:\n\n- `one`: The first."


def test_what_is_yielded_is_a_sentence() -> None:
    assert markdown("Speaks.\n\n    Yields:\n        Samples, in\n        order.\n    ") == (
        "Speaks.\n\nYields: Samples, in order."
    )


def test_a_paragraph_after_a_section_is_kept() -> None:
    docstring = "Speaks.\n\n    Args:\n        text: It.\n\n    And no more.\n    "
    assert markdown(docstring) == "Speaks.\n\nArgs:\n\n- `text`: It.\n\nAnd no more."
