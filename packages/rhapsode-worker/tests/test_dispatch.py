"""A request off the wire, held against what an engine declares."""

import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_contract import (
    BadRequest,
    Capabilities,
    ErrorCode,
    RhapsodeError,
    SpeakRequest,
    Unsupported,
)
from rhapsode_worker.dispatch import dispatch, readable

DOCUMENT = Capabilities.model_validate(
    {
        "contract": 1,
        "engine": {"id": "e", "displayName": "E", "adapterVersion": "1"},
        "license": {"code": "MIT", "weights": "none", "weightsCommercialUse": True},
        "device": {"type": "cpu", "name": "cpu"},
        "variants": {
            "plain": {"maxCharacters": 10},
            "dialled": {
                "cues": ["laugh"],
                "deliveries": ["hushed"],
                "dials": {
                    "speed": {"min": 0.5, "max": 2, "default": 1},
                    "cfgWeight": {"min": 0, "max": 1, "default": 0.5},
                },
            },
            "english": {"languages": ["en-GB"]},
            "polyglot": {"languages": ["en", "fr"]},
        },
        "formats": ["wav", "mp3"],
    }
)


def resident(variant: str) -> Capabilities:
    current = DOCUMENT.variants[variant].to_object() | {
        "variant": variant,
        "streaming": {"supported": False},
        "nativeFormat": {"encoding": "pcm_s16le", "sampleRate": 24_000, "channels": 1},
    }
    return Capabilities.model_validate(DOCUMENT.to_object() | {"current": current})


def ask(document: Capabilities = DOCUMENT, **fields: Any) -> Any:
    return dispatch(SpeakRequest.model_validate({"text": "Hello.", **fields}), document)


@pytest.mark.contract("d.defaults.format", "d.defaults.stream", "6.seed.optional")
def test_what_a_request_leaves_out_is_filled_in() -> None:
    utterance = ask()
    assert (utterance.format, utterance.is_streamed) == ("wav", False)
    assert utterance.max_seconds == 10
    request = utterance.request
    assert (request.text, request.variant) == ("Hello.", "plain")
    assert (request.voice, request.language, request.delivery) == (None, None, None)
    assert (request.params, request.seed) == ({}, None)


def test_what_a_request_says_is_passed_on() -> None:
    utterance = ask(
        text="Hello. [laugh]",
        variant="dialled",
        voice="ann",
        format="mp3",
        delivery="hushed",
        params={"speed": 2},
        seed=-(2**63),
        stream=True,
    )
    assert (utterance.format, utterance.is_streamed, utterance.max_seconds) == ("mp3", True, 4096)
    request = utterance.request
    assert (request.text, request.voice, request.delivery) == ("Hello. [laugh]", "ann", "hushed")
    assert request.seed == -(2**63)


def test_an_adapter_is_given_every_dial_turned_or_not() -> None:
    assert ask(variant="dialled", params={"speed": 0.5}).request.params == {
        "speed": 0.5,
        "cfgWeight": 0.5,
    }


@pytest.mark.contract(
    "4.effective.request-first",
    "4.effective.resident-next",
    "4.effective.default-last",
    "6.speak.variant",
    "d.variant.default",
)
def test_the_variant_is_the_one_named_else_the_resident_else_the_first() -> None:
    assert ask().request.variant == "plain"
    assert ask(resident("polyglot")).request.variant == "polyglot"
    assert ask(resident("polyglot"), variant="dialled").request.variant == "dialled"


@pytest.mark.contract(
    "6.language.default", "6.language.chosen", "6.language.single-ignored", "6.language.unlisted"
)
def test_a_language_is_the_one_asked_for_of_several_and_never_a_guess() -> None:
    assert ask(variant="polyglot").request.language == "en"
    assert ask(variant="polyglot", language="FR").request.language == "fr"
    assert ask(variant="english", language="de").request.language == "en-GB"
    assert ask(variant="plain", language="de").request.language is None
    with pytest.raises(Unsupported) as refusal:
        ask(variant="polyglot", language="de")
    assert refusal.value.field == "language"


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"variant": "huge"}, ErrorCode.UNSUPPORTED, "variant"),
        ({"format": "aac"}, ErrorCode.UNSUPPORTED, "format"),
        ({"format": ""}, ErrorCode.UNSUPPORTED, "format"),
        ({"format": "opus"}, ErrorCode.UNSUPPORTED, "format"),
        ({"delivery": "hushed"}, ErrorCode.UNSUPPORTED, "delivery"),
        ({"params": {"speed": 1}}, ErrorCode.BAD_REQUEST, "params.speed"),
        ({"variant": "dialled", "params": {"speed": 2.01}}, ErrorCode.BAD_REQUEST, "params.speed"),
        ({"variant": "dialled", "params": {"Speed": 1}}, ErrorCode.BAD_REQUEST, "params.Speed"),
        ({"text": "x" * 11}, ErrorCode.BAD_REQUEST, "text"),
        ({"text": ""}, ErrorCode.BAD_REQUEST, "text"),
        ({"text": "\n\t "}, ErrorCode.BAD_REQUEST, "text"),
        ({"text": "\u200b\u2060\ufeff"}, ErrorCode.BAD_REQUEST, "text"),
        ({"text": "\u200f\u202e"}, ErrorCode.BAD_REQUEST, "text"),
        ({"text": "\x01\x02"}, ErrorCode.BAD_REQUEST, "text"),
        ({"text": "😀"}, ErrorCode.BAD_REQUEST, "text"),
        ({"text": "..."}, ErrorCode.BAD_REQUEST, "text"),
        ({"text": "[laugh]"}, ErrorCode.BAD_REQUEST, "text"),
        ({"text": "a\0b"}, ErrorCode.BAD_REQUEST, "text"),
    ],
    ids=lambda value: str(value),
)
@pytest.mark.contract(
    "d.codes.variant",
    "d.codes.format-open",
    "d.codes.delivery-unclaimed",
    "d.codes.dial-range",
    "d.codes.too-long",
    "d.codes.unspeakable",
    "6.params.unknown",
)
def test_what_the_variant_does_not_do_is_refused_naming_the_field(
    fields: dict[str, Any], code: ErrorCode, field: str
) -> None:
    with pytest.raises(RhapsodeError) as refusal:
        ask(**fields)
    assert (refusal.value.code, refusal.value.field) == (code, field)
    assert field in refusal.value.message


@pytest.mark.parametrize("text", ["x" * 10, "[laugh] " + "x" * 10, "x\u200e" * 5, "7", "é", "你"])
@pytest.mark.contract("d.text.counting")
def test_the_limit_counts_what_is_left_to_say(text: str) -> None:
    assert len(ask(text=text).request.text) <= 10


def test_the_limit_is_the_one_the_core_counts_before_marks_are_taken_out() -> None:
    with pytest.raises(BadRequest, match="20 characters"):
        ask(text="x\u200e" * 10)


@pytest.mark.parametrize("value", [0.5, 2, 1])
def test_the_ends_of_a_dial_are_allowed(value: float) -> None:
    assert ask(variant="dialled", params={"speed": value}).request.params["speed"] == value


@pytest.mark.contract("d.cues.worker-strips", "5.cues.gap", "5.cues.kept")
def test_a_cue_the_variant_does_not_claim_never_reaches_the_adapter() -> None:
    sent = "Well [SIGH] then [ Laugh ] ok"
    assert ask(variant="dialled", text=sent).request.text == "Well then [ Laugh ] ok"
    assert ask(variant="english", text=sent).request.text == "Well then ok"


@pytest.mark.parametrize(
    "hidden", ["[lau\u200egh]", "[la\u202eugh]", "[\u2066sigh]", "[clear\x0bthroat]"]
)
def test_a_cue_cannot_hide_behind_what_is_taken_out(hidden: str) -> None:
    assert ask(variant="english", text=f"Well {hidden} ok").request.text == "Well ok"


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("plain", "plain"),
        ("a\x07b", "a b"),
        ("a\x1fb\x7fc\x85d", "a b c d"),
        ("a\tb\nc\r\n", "a\tb\nc\r\n"),
        ("\u200eabc\u200f \u202eevil\u202c \u2067x\u2069 \u061cy", "abc evil x y"),
        ("e\u0301", "é"),
        ("e\u200e\u0301", "é"),
        ("\u0301", "\u0301"),
        ("שלום", "שלום"),
        ("न\u200dम", "न\u200dम"),  # joiners are part of the spelling of some scripts
    ],
)
def test_what_cannot_be_read_aloud_is_taken_out(text: str, spoken: str) -> None:
    assert readable(text) == spoken


@given(st.text())
def test_what_is_readable_is_composed_and_holds_nothing_that_could_hurt(text: str) -> None:
    spoken = readable(text)
    assert readable(spoken) == spoken
    assert unicodedata.is_normalized("NFC", spoken)
    assert {c for c in spoken if unicodedata.category(c) == "Cc"} <= set("\0\t\n\r")
    assert not any(unicodedata.bidirectional(c) in {"RLO", "LRO", "RLE", "LRE"} for c in spoken)


@pytest.mark.timeout(30)  # many times what it takes; quadratic work would take minutes
@pytest.mark.parametrize("unit", ["a\x07", "é\u200e", "[sigh] ", "e\u0301", "[" * 7])
def test_all_that_a_body_can_hold_is_dispatched_without_holding_up_the_loop(unit: str) -> None:
    body = SpeakRequest(text=unit * (1_000_000 // len(unit.encode())))
    with pytest.raises(BadRequest):
        dispatch(body, DOCUMENT)


def test_an_utterance_is_a_value() -> None:
    assert ask() == replace(ask())
