"""Recipes of blends: read once, scaled, refused by position."""

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_contract import BadRequest
from rhapsode_worker.voicing.recipe import PARTS_LIMIT, Recipe

IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True)
WEIGHTS = st.floats(min_value=1e-6, max_value=1e6, allow_nan=False)
SPACES = st.sampled_from(["", " ", "\t ", "\n"])


def test_weights_are_scaled_to_sum_to_one() -> None:
    assert Recipe.parse("af_bella(3)+af_sky(1)").parts == (("af_bella", 0.75), ("af_sky", 0.25))


def test_a_weight_left_out_is_one() -> None:
    assert Recipe.parse("a+b(3)").parts == (("a", 0.25), ("b", 0.75))


def test_a_name_given_twice_counts_with_the_sum_of_its_weights() -> None:
    assert Recipe.parse("a+b(2)+a").parts == (("a", 0.5), ("b", 0.5))


def test_one_voice_is_a_recipe_too() -> None:
    assert Recipe.parse("a-b_c").parts == (("a-b_c", 1.0),)


@pytest.mark.parametrize("weight", ["1", "1.", ".5", "0.5", "1e3", "2E-2", "1e+2", "007"])
def test_a_weight_is_written_as_numbers_are(weight: str) -> None:
    parts = dict(Recipe.parse(f"a({weight})+b").parts)
    assert math.isclose(parts["a"] / parts["b"], float(weight))


def test_great_weights_do_not_overflow() -> None:
    assert Recipe.parse("a(1e308)+b(1e308)+a(1e308)").parts == (("a", 2 / 3), ("b", 1 / 3))


@given(st.lists(st.tuples(IDS, st.none() | WEIGHTS, SPACES), min_size=1, max_size=PARTS_LIMIT))
def test_every_recipe_is_read_as_it_was_written(
    written: list[tuple[str, float | None, str]],
) -> None:
    text = "+".join(
        f"{s}{name}{s}" if weight is None else f"{s}{name}{s}({s}{weight!r}{s}){s}"
        for name, weight, s in written
    )
    sums: dict[str, float] = {}
    for name, weight, _ in written:
        sums[name] = sums.get(name, 0.0) + (1.0 if weight is None else weight)
    parts = Recipe.parse(text).parts
    assert [name for name, _ in parts] == list(sums)
    assert math.isclose(sum(weight for _, weight in parts), 1.0)
    total = sum(sums.values())
    assert all(math.isclose(weight, sums[name] / total, rel_tol=1e-9) for name, weight in parts)


@pytest.mark.parametrize(
    ("text", "character"),
    [
        ("", 1),
        ("  ", 3),
        ("+a", 1),
        ("a+", 3),
        ("a++b", 3),
        ("a b", 3),
        ("a(1)b", 5),
        ("a(1", 4),
        ("a(1))", 5),
        ("a((1))", 3),
        ("a()", 3),
        ("a(0)", 3),
        ("a(0.0)", 3),
        ("a(-1)+b", 3),
        ("a(+1)", 3),
        ("a(nan)", 3),
        ("a(inf)", 3),
        ("a(1e999)", 3),
        ("a(1e-999)", 3),
        ("a(1_0)", 3),
        ("a(0x1)", 3),
        ("a(١)", 3),
        ("a(1 2)", 3),
        ("b+../../x", 3),
        ("b+a/b", 3),
        ("a*", 1),
        ("ä", 1),
        ("a\0", 1),
        ("a" * 65, 1),
        ("a)", 2),
    ],
)
def test_what_is_no_recipe_is_refused_at_its_place(text: str, character: int) -> None:
    with pytest.raises(BadRequest, match=f"^blend, character {character}: ") as refusal:
        Recipe.parse(text)
    assert refusal.value.field == "blend"


def test_a_weight_that_is_nothing_beside_the_others_is_refused() -> None:
    with pytest.raises(BadRequest) as refusal:
        Recipe.parse("a(1e-300)+b(1e300)")
    assert refusal.value.field == "blend"


def test_a_recipe_has_a_bounded_number_of_names() -> None:
    assert Recipe.parse("+".join(["a"] * PARTS_LIMIT)).parts == (("a", 1.0),)
    with pytest.raises(BadRequest):
        Recipe.parse("+".join(["a"] * (PARTS_LIMIT + 1)))


@given(st.text() | st.text(alphabet=string.ascii_lowercase[:3] + "0123456789().+-eE_ "))
def test_any_text_is_a_recipe_or_refused(text: str) -> None:
    try:
        parts = Recipe.parse(text).parts
    except BadRequest as refusal:
        assert refusal.field == "blend"
        assert len(refusal.message) < 300
        return
    assert parts
    assert all(weight > 0 for _, weight in parts)


@pytest.mark.parametrize("text", ["a(" * 500_000, "a" * 1_000_000, " " * 1_000_000, "a+" * 500_000])
def test_a_megabyte_of_nonsense_is_refused_in_a_short_message(text: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        Recipe.parse(text)
    assert len(refusal.value.message) < 300
