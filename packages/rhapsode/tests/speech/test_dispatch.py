"""What a worker is asked, for what a client asked."""

from typing import Any

import pytest
from rhapsode.speech.dispatch import Dispatch, dispatch
from rhapsode.speech.speak import byte_limit
from rhapsode_contract import (
    BadRequest,
    Capabilities,
    PublicSpeakRequest,
    RhapsodeError,
    SpeakRequest,
    Unsupported,
)

VARIANTS: dict[str, Any] = {
    "plain": {"cues": [], "deliveries": [], "dials": {}},
    "rich": {
        "cues": ["laugh"],
        "deliveries": ["hushed"],
        "dials": {"speed": {"min": 0.5, "max": 2, "default": 1}},
        "languages": ["en", "de"],
        "maxCharacters": 20,
        "segmentation": {"supported": True, "segmentCharacters": 5},
    },
}
CURRENT = {
    "variant": "rich",
    "streaming": {"supported": True},
    "nativeFormat": {"encoding": "pcm_s16le", "sampleRate": 10, "channels": 1},
    **VARIANTS["rich"],
}


def document(current: dict[str, Any] | None = None) -> Capabilities:
    return Capabilities.model_validate(
        {
            "contract": 1,
            "engine": {"id": "e", "displayName": "E", "adapterVersion": "1"},
            "license": {"code": "MIT", "weights": "MIT", "weightsCommercialUse": True},
            "device": {"type": "cpu", "name": "cpu"},
            "current": current,
            "variants": VARIANTS,
            "formats": ["wav", "opus"],
        }
    )


def asked(
    resident: str | None = None, current: dict[str, Any] | None = None, **fields: Any
) -> Dispatch:
    body = PublicSpeakRequest.model_validate({"engine": "e", "text": "Hello", **fields})
    return dispatch(body, document(current), resident)


def request_of(
    resident: str | None = None, current: dict[str, Any] | None = None, **fields: Any
) -> SpeakRequest:
    request = asked(resident, current, **fields).request
    assert isinstance(request, SpeakRequest)
    return request


@pytest.mark.contract("4.effective.request-first", "d.variant.forwarded")
def test_the_variant_that_a_request_names_wins() -> None:
    assert request_of("plain", variant="rich").variant == "rich"


@pytest.mark.contract("4.effective.resident-next", "6.speak.variant")
def test_a_request_that_names_none_gets_the_resident_one() -> None:
    assert request_of("rich").variant == "rich"


@pytest.mark.contract("4.effective.default-last", "d.variant.default")
def test_with_none_resident_it_gets_the_first_that_is_listed() -> None:
    assert request_of().variant == "plain"


@pytest.mark.contract("4.effective.reads-variants")
def test_the_checks_are_those_of_the_effective_variant_whatever_is_current() -> None:
    assert request_of("rich", CURRENT, variant="plain", text="Ha [laugh] ha").text == "Ha ha"


@pytest.mark.contract("5.cues.stripped", "5.cues.gap")
def test_a_cue_that_is_not_claimed_goes_with_the_space_it_leaves() -> None:
    assert request_of(text="Well [laugh] no [gasp].").text == "Well no."


@pytest.mark.contract("5.cues.kept")
def test_a_claimed_cue_stays_in_its_place() -> None:
    assert request_of(variant="rich", text="Ha [laugh] [gasp] no").text == "Ha [laugh] no"


@pytest.mark.contract("6.delivery.dropped")
def test_a_delivery_that_is_not_claimed_is_dropped() -> None:
    assert request_of(delivery="hushed").delivery is None
    assert request_of(variant="rich", delivery="hushed").delivery == "hushed"
    assert request_of(variant="rich", delivery="frantic").delivery is None


@pytest.mark.contract("6.language.default")
def test_a_language_is_the_one_asked_for_or_the_first() -> None:
    assert request_of(variant="rich").language == "en"
    assert request_of(variant="rich", language="de").language == "de"
    assert request_of(language="xx").language is None


def test_what_else_was_asked_goes_on_as_it_came() -> None:
    request = request_of(
        variant="rich", voice="v1", format="opus", params={"speed": 1.5}, seed=7, stream=True
    )
    assert request.to_object() == {
        "text": "Hello",
        "voice": "v1",
        "variant": "rich",
        "format": "opus",
        "language": "en",
        "params": {"speed": 1.5},
        "seed": 7,
        "stream": True,
    }


def test_the_worker_is_never_told_of_a_keep_alive_nor_of_its_own_name() -> None:
    told = request_of(keepAliveSeconds=-1).to_object()
    assert not {"keepAliveSeconds", "engine"} & set(told)


@pytest.mark.parametrize(
    ("fields", "error", "field"),
    [
        ({"variant": "none"}, Unsupported, "variant"),
        ({"format": "aac"}, Unsupported, "format"),
        ({"variant": "rich", "language": "fr"}, Unsupported, "language"),
        ({"params": {"speed": 1}}, BadRequest, "params.speed"),
        ({"variant": "rich", "params": {"speed": 3}}, BadRequest, "params.speed"),
        ({"text": "[laugh]"}, BadRequest, "text"),
        ({"text": "..."}, BadRequest, "text"),
        ({"variant": "rich", "text": "x" * 21}, BadRequest, "text"),
        ({"text": "x" * 4097}, BadRequest, "text"),
        ({"voice": "../x"}, BadRequest, "voice"),
    ],
)
def test_what_the_variant_does_not_do_is_refused_naming_the_field(
    fields: dict[str, Any], error: type[RhapsodeError], field: str
) -> None:
    with pytest.raises(error) as refused:
        asked(**fields)
    assert refused.value.field == field


@pytest.mark.contract("d.text.counting")
def test_the_limit_counts_what_is_left_after_stripping() -> None:
    assert request_of(variant="rich", text="x" * 20 + " [gasp]").text == "x" * 20


@pytest.mark.contract("d.buffer.bound", "6.buffer.only-when-asked")
def test_a_buffered_answer_is_bounded_by_a_second_of_samples_for_each_character() -> None:
    small = asked("rich", CURRENT)
    assert byte_limit(document(CURRENT), small) == 20 * 10 * 2 + 65_536
    unknown = asked(variant="plain")
    assert byte_limit(document(CURRENT), unknown) > 4096 * 48_000


def test_the_time_of_a_buffered_answer_grows_with_the_segments_of_its_text() -> None:
    assert asked(variant="plain", text="x" * 4000).segments == 1
    assert asked(variant="rich", text="x" * 5).segments >= 1
    assert asked(variant="rich", text="x" * 20).segments >= 4
