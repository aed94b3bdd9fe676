"""What a request must be before a variant is asked to speak it (contract §§ 4, 5, 6)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_contract import (
    CUES,
    DELIVERIES,
    BadRequest,
    Delivery,
    Dial,
    RhapsodeError,
    Unsupported,
    Variant,
    check_delivery,
    check_format,
    check_language,
    check_length,
    check_params,
    check_text,
    effective_variant,
    strip_cues,
)

VARIANTS = {"turbo": Variant(), "original": Variant(), "multi": Variant()}
DIALS = {
    "speed": Dial(min=0.5, max=2, default=1),
    "fixed": Dial(min=3, max=3, default=3),
    "cold": Dial(min=-2, max=-1, default=-1),
}


def refusal_of(error: pytest.ExceptionInfo[RhapsodeError]) -> tuple[str | None, str]:
    return error.value.field, error.value.message


NAMES = [None, *VARIANTS, "gone", ""]


@pytest.mark.contract(
    "4.effective.request-first", "4.effective.resident-next", "4.effective.default-last"
)
@pytest.mark.parametrize(("requested", "resident"), [*itertools.product(NAMES, NAMES)])
def test_the_effective_variant_is_the_one_named_else_the_resident_else_the_first(
    requested: str | None, resident: str | None
) -> None:
    if requested is not None and requested not in VARIANTS:
        with pytest.raises(Unsupported) as error:
            effective_variant(requested, resident, VARIANTS)
        field, message = refusal_of(error)
        assert field == "variant"
        assert all(name in message for name in (repr(requested), *VARIANTS))
        return
    expected = requested or (resident if resident in VARIANTS else None) or "turbo"
    assert effective_variant(requested, resident, VARIANTS) == expected


def test_an_engine_without_variants_is_nobody_s_request() -> None:
    with pytest.raises(ValueError, match="variant"):
        effective_variant(None, None, {})
    with pytest.raises(Unsupported):
        effective_variant("turbo", None, {})


@pytest.mark.contract("d.text.default-limit")
def test_a_variant_that_declares_no_limit_takes_4096_characters() -> None:
    check_length(4096, Variant())
    with pytest.raises(BadRequest):
        check_length(4097, Variant())


@pytest.mark.parametrize("characters", [0, 1, 9, 10])
def test_a_length_up_to_the_limit_is_allowed(characters: int) -> None:
    check_length(characters, Variant(max_characters=10))


@pytest.mark.parametrize("characters", [11, 1_000_000])
def test_a_longer_one_is_refused_with_both_numbers(characters: int) -> None:
    with pytest.raises(BadRequest) as error:
        check_length(characters, Variant(max_characters=10), "turns")
    field, message = refusal_of(error)
    assert field == "turns"
    assert str(characters) in message
    assert " 10 " in message


@pytest.mark.contract("d.text.counting")
@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("abcdefghij", "abcdefghij"),
        ("日本語日本語日本語日", "日本語日本語日本語日"),
        ("😀😀😀😀😀😀😀😀😀a", "😀😀😀😀😀😀😀😀😀a"),
        ("e\u0301" * 5, "e\u0301" * 5),
        ("[laugh] ab", "[laugh] ab"),
        ("abcde [sigh] fghi", "abcde fghi"),
        ("[sigh]" * 50 + "a", "a"),
    ],
)
def test_length_counts_code_points_of_what_is_left(text: str, rest: str) -> None:
    variant = Variant(cues=("laugh",), max_characters=10)
    assert check_text(text, variant) == rest


@pytest.mark.parametrize("text", ["abcdefghijk", "😀" * 10 + "a", "[laugh] abc", "a" * 1_000_000])
def test_one_code_point_more_is_refused(text: str) -> None:
    with pytest.raises(BadRequest) as error:
        check_text(text, Variant(cues=("laugh",), max_characters=10))
    assert error.value.field == "text"
    assert len(error.value.message) < 200


@pytest.mark.parametrize("text", ["", " ", "\u200b", "...", "😀", "[sigh]", " [sigh] … [sigh]"])
def test_text_with_nothing_to_say_is_refused_naming_the_field(text: str) -> None:
    with pytest.raises(BadRequest) as error:
        check_text(text, Variant(cues=("laugh",)), "turns.2.text")
    assert error.value.field == "turns.2.text"
    assert error.value.message.startswith("turns.2.text: ")


@pytest.mark.parametrize("text", ["\0", "a\0", "abc\0def"])
def test_a_nul_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(BadRequest) as error:
        check_text(text, Variant())
    assert f"character {text.index(chr(0)) + 1};" in error.value.message


def test_a_claimed_cue_alone_is_spoken() -> None:
    assert check_text("[Laugh]", Variant(cues=("laugh",))) == "[Laugh]"


@given(
    st.text(alphabet=st.characters(exclude_categories=(), exclude_characters="\0")),
    st.sets(st.sampled_from(CUES)),
)
def test_an_admitted_text_is_what_stripping_leaves(text: str, claimed: set[str]) -> None:
    variant = Variant(cues=tuple(claimed))
    try:
        assert check_text(text, variant) == strip_cues(text, claimed)
    except BadRequest as refusal:
        assert refusal.field == "text"


FORMATS_HERE = ("wav", "mp3", "pcm")


@pytest.mark.parametrize("name", [None, *FORMATS_HERE])
def test_a_listed_format_is_meant_and_an_absent_one_is_wav(name: str | None) -> None:
    assert check_format(name, FORMATS_HERE) == (name or "wav")


@pytest.mark.parametrize("name", ["aac", "opus", "WAV", "wav ", "", "x" * 10_000])
def test_any_other_format_is_unsupported_naming_those_there_are(name: str) -> None:
    with pytest.raises(Unsupported) as error:
        check_format(name, FORMATS_HERE)
    field, message = refusal_of(error)
    assert field == "format"
    assert "wav, mp3, pcm" in message
    assert len(message) < 200


def test_wav_is_unsupported_where_it_is_not_listed() -> None:
    with pytest.raises(Unsupported):
        check_format(None, ())


@pytest.mark.parametrize(
    ("languages", "asked", "meant"),
    [
        (None, None, None),
        (None, "fr", None),
        ((), "fr", None),
        (("en",), None, "en"),
        (("en",), "fr", "en"),
        (("en", "fr"), None, "en"),
        (("fr", "en"), None, "fr"),
        (("en", "fr"), "fr", "fr"),
        (("en-US", "pt-BR"), "PT-br", "pt-BR"),
    ],
)
def test_the_language_is_the_one_asked_for_among_several_else_the_first(
    languages: tuple[str, ...] | None, asked: str | None, meant: str | None
) -> None:
    assert check_language(asked, Variant(languages=languages)) == meant


@pytest.mark.parametrize("asked", ["de", "", "english", "e", "en-US"])
def test_a_language_that_is_not_among_several_is_unsupported(asked: str) -> None:
    with pytest.raises(Unsupported) as error:
        check_language(asked, Variant(languages=("en", "fr")))
    field, message = refusal_of(error)
    assert field == "language"
    assert "en, fr" in message


CLAIMED_DELIVERIES: list[tuple[Delivery, ...]] = [(), ("hushed",), ("frantic",), DELIVERIES]


@pytest.mark.parametrize("claimed", CLAIMED_DELIVERIES)
@pytest.mark.parametrize("delivery", [None, *DELIVERIES])
def test_a_delivery_is_performed_exactly_where_it_is_claimed(
    delivery: Delivery | None, claimed: tuple[Delivery, ...]
) -> None:
    variant = Variant(deliveries=claimed)
    if delivery is None or delivery in claimed:
        assert check_delivery(delivery, variant) == delivery
        return
    with pytest.raises(Unsupported) as error:
        check_delivery(delivery, variant)
    assert error.value.field == "delivery"
    assert (", ".join(claimed) or "none") in error.value.message


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"speed": 0.5},
        {"speed": 2.0},
        {"speed": 1.25, "fixed": 3.0, "cold": -2.0},
        {"cold": -1.0},
    ],
)
def test_dials_in_range_are_turned_the_limits_included(params: dict[str, float]) -> None:
    assert check_params(params, DIALS) == params


def test_no_params_turn_no_dial() -> None:
    assert check_params(None, DIALS) == {}
    assert check_params({}, {}) == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("speed", 0.49),
        ("speed", 2.0000001),
        ("speed", -1.0),
        ("fixed", 2.9),
        ("fixed", 3.1),
        ("cold", 0.0),
        ("cold", -2.5),
        ("speed", float("nan")),
        ("speed", float("inf")),
    ],
)
def test_a_dial_out_of_range_is_refused_with_its_limits(name: str, value: float) -> None:
    with pytest.raises(BadRequest) as error:
        check_params({name: value}, DIALS)
    field, message = refusal_of(error)
    assert field == f"params.{name}"
    assert all(str(part) in message for part in (value, DIALS[name].min, DIALS[name].max))


@pytest.mark.parametrize("name", ["Speed", "", "exaggeration", "k" * 100_000])
@pytest.mark.parametrize("dials", [DIALS, {}], ids=["some", "none"])
def test_an_unknown_dial_is_refused_by_name(name: str, dials: dict[str, Dial]) -> None:
    with pytest.raises(BadRequest) as error:
        check_params({"speed": 1.0, name: 1.0} if dials else {name: 1.0}, dials)
    field, message = refusal_of(error)
    assert field is not None
    assert field.startswith(f"params.{name}"[:60])
    assert (", ".join(dials) or "none") in message
    assert len(message) < 250


def test_what_is_returned_is_a_copy() -> None:
    params = {"speed": 1.0}
    check_params(params, DIALS)["speed"] = 2.0
    assert params == {"speed": 1.0}
