"""What is asked of a variant to hear what it claims."""

import pytest
from rhapsode_conform.claims import claims_of, readings_of
from rhapsode_conform.texts import Texts
from rhapsode_contract import Dial, Variant


def test_each_claim_is_asked_for_once() -> None:
    variant = Variant(
        cues=("laugh", "sigh"),
        deliveries=("hushed",),
        dials={"speed": Dial(min=0.5, max=2, default=1)},
        languages=("en", "fr"),
    )
    asked = claims_of(variant, Texts())
    assert asked[0] == {}
    assert [each["params"] for each in asked if "params" in each] == [{"speed": 0.5}, {"speed": 2}]
    assert len(asked) == 1 + 2 + 1 + 2 + 2


def test_a_sentence_of_a_language_is_read_in_it_and_in_the_first() -> None:
    ((own, by_the_first),) = readings_of(Variant(languages=("en", "fr")), Texts()).values()
    assert own["text"] == by_the_first["text"] == "Il va bientôt pleuvoir."
    assert (own["language"], by_the_first["language"]) == ("fr", "en")


@pytest.mark.parametrize(
    ("languages", "told"),
    [
        (None, []),
        (("en",), []),
        (("en", "en-US", "en-GB"), []),
        (("mul", "en", "fr-FR", "fr-CA"), ["fr-FR"]),
        (("fr", "mul", "en-GB"), ["en-GB"]),
        (("auto", "en", "de"), ["de"]),
        (("zh", "cmn", "zh-TW"), []),
        (("ta", "te"), []),
        (("ta", "en"), ["en"]),
        (("en", "te", "de", "ta", "fr", "it"), ["de", "fr", "it"]),
        (("en", "de", "fr", "it", "es"), ["de", "fr", "it"]),
    ],
)
def test_dialects_and_tags_that_name_no_language_are_left_out(
    languages: tuple[str, ...] | None, told: list[str]
) -> None:
    assert list(readings_of(Variant(languages=languages), Texts())) == told
