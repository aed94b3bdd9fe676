"""What a caller sends is read strictly: coerced where it is plain, else refused by name."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rhapsode_contract import (
    KEEP_ALIVE_SECONDS_MAX,
    BadRequest,
    DialogueRequest,
    FetchRequest,
    LoadRequest,
    OpenAISpeechRequest,
    OpenAIVoice,
    PublicDialogueRequest,
    PublicSpeakRequest,
    Request,
    SpeakRequest,
    Turn,
    parse_request,
)
from rhapsode_contract.speaking import PARAMS_MAX, TURNS_MAX


def spoken(**fields: str) -> PublicSpeakRequest:
    """Reads a speak request with these more fields, each written in JSON."""
    more = "".join(f', "{name}": {value}' for name, value in fields.items())
    return parse_request(PublicSpeakRequest, f'{{"engine": "e", "text": "x"{more}}}')


def refused(model: type[Request], body: bytes | str) -> BadRequest:
    with pytest.raises(BadRequest) as refusal:
        parse_request(model, body)
    assert type(refusal.value) is BadRequest
    assert len(refusal.value.message) < 400
    return refusal.value


@pytest.mark.parametrize(
    ("written", "read"),
    [("7", 7), ('"7"', 7), ("7.0", 7), ('"7.0"', 7), ("-1", -1), ("1e3", 1000), ("-0.0", 0)],
)
def test_a_whole_number_is_read_however_it_is_written(written: str, read: int) -> None:
    asked = spoken(keepAliveSeconds=written, seed=written)
    assert (asked.keep_alive_seconds, asked.seed) == (read, read)


@pytest.mark.parametrize(
    ("written", "read"),
    [("0.7", 0.7), ('"0.7"', 0.7), ("7", 7.0), ('"7"', 7.0), ('"1e-2"', 0.01), ("-3", -3.0)],
)
def test_a_number_is_read_however_it_is_written(written: str, read: float) -> None:
    assert spoken(params=f'{{"dial": {written}}}').params == {"dial": read}


NO_NUMBERS = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "true",
    "false",
    '"true"',
    '"abc"',
    '""',
    '" "',
    '"NaN"',
    '"inf"',
    '"1_000"',
    '"0x10"',
    '"٣"',
    "[]",
    "[7]",
    "{}",
    '"' + "9" * 5000 + '"',
]


@pytest.mark.parametrize("written", NO_NUMBERS, ids=lambda written: ascii(written)[:20])
def test_what_is_no_number_is_refused_by_the_name_of_its_field(written: str) -> None:
    for name in ("seed", "keepAliveSeconds"):
        error = refused(PublicSpeakRequest, f'{{"engine":"e","text":"x","{name}":{written}}}')
        assert error.field == name
    error = refused(SpeakRequest, f'{{"text":"x","params":{{"dial":{written}}}}}')
    assert error.field == "params.dial"
    error = refused(OpenAISpeechRequest, f'{{"model":"e","input":"x","speed":{written}}}')
    assert error.field == "speed"


@pytest.mark.parametrize(
    "written",
    ["7.5", '"7.5"', "1e-3", "9223372036854775808", "-9223372036854775809", "1" + "0" * 400],
)
def test_a_seed_is_a_whole_number_of_64_bits(written: str) -> None:
    assert refused(SpeakRequest, f'{{"text":"x","seed":{written}}}').field == "seed"


@pytest.mark.parametrize("seed", [0, 7, -1, 2**53 + 1, 2**63 - 1, -(2**63)])
def test_every_seed_of_64_bits_is_read_exactly(seed: int) -> None:
    assert spoken(seed=str(seed)).seed == seed


@pytest.mark.parametrize("seconds", [-1, 0, 300, KEEP_ALIVE_SECONDS_MAX])
def test_a_keep_alive_is_minus_one_or_more(seconds: int) -> None:
    assert spoken(keepAliveSeconds=str(seconds)).keep_alive_seconds == seconds


@pytest.mark.parametrize("seconds", ["-2", "-1.5", "1" + "0" * 30])
def test_a_keep_alive_that_no_clock_can_hold_is_refused(seconds: str) -> None:
    error = refused(PublicSpeakRequest, f'{{"engine":"e","text":"x","keepAliveSeconds":{seconds}}}')
    assert error.field == "keepAliveSeconds"


@pytest.mark.contract("d.codes.coerced-boolean")
@pytest.mark.parametrize(
    ("written", "read"),
    [("true", True), ("false", False), ('"true"', True), ('"false"', False), ("1", True)]
    + [("0", False), ('"1"', True), ('"0"', False), ("null", None), ('"off"', False)]
    + [('"on"', True), ('"no"', False), ('"yes"', True)],
)
def test_a_boolean_is_read_however_it_is_written(written: str, read: bool | None) -> None:
    assert spoken(stream=written).stream is read


@pytest.mark.parametrize("written", ['"abc"', '""', "2", "-1", "0.5", "[]", "{}", "NaN"])
def test_what_is_no_boolean_is_refused(written: str) -> None:
    assert refused(SpeakRequest, f'{{"text":"x","stream":{written}}}').field == "stream"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"text": "\\ud800"}', "text"),
        (b'{"text": "half \\udc00 of it"}', "text"),
        (b'{"text": "\\udc00\\ud800"}', "text"),
        (b'{"text": "\xff"}', "text"),
        ('{"text": "é"}'.encode("latin-1"), "text"),
        (b'{"seed": 1, "params": {}, "text": "\xc3"}', "text"),
        (b'{"text": "x", "\\ud800": 1}', "'\\ud800'"),
        (b'{"text": "x", "params": {"a": {"b": [1, "\\ud800"]}}}', "params.a.b.1"),
    ],
)
def test_a_string_that_is_no_unicode_is_refused_by_the_name_of_its_field(
    body: bytes, field: str
) -> None:
    error = refused(SpeakRequest, body)
    assert error.field == field
    assert error.message.startswith(f"{field}: ") and "line 1 column " in error.message


@pytest.mark.parametrize(
    "body",
    [
        b'{"text": "\\ud800"',
        b"\xff",
        b"[" * 100_000 + b'"\\ud800"',
        b'{"params": [' + b"1, " * 100_000 + b'1], "text": "\\ud800"}',
    ],
    ids=["broken off", "a byte", "deep", "behind many values"],
)
def test_a_body_whose_fault_lies_in_no_field_that_can_be_found_is_refused_as_a_whole(
    body: bytes,
) -> None:
    assert refused(SpeakRequest, body).field is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ('"seed": "x"', "seed: should be a whole number, not 'x'"),
        ('"seed": 1.5', "seed: should be a whole number, not 1.5"),
        ('"params": {"dial": "x"}', "params.dial: should be a number, not 'x'"),
        ('"params": [1]', "params: should be an object, not [1]"),
        ('"stream": "perhaps"', "stream: should be true or false, not 'perhaps'"),
        ('"stream": []', "stream: should be true or false, not []"),
        ('"voice": 7', "voice: should be a string, not 7"),
        ('"delivery": "calm"', "delivery: should be 'hushed' or 'frantic', not 'calm'"),
    ],
)
def test_a_message_says_the_field_what_came_and_what_is_allowed(fields: str, message: str) -> None:
    assert refused(SpeakRequest, f'{{"text": "x", {fields}}}').message == message


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ("[]", "turns: should hold at least 1, and is empty"),
        ("{}", "turns: should be a list, not {}"),
        ('["x"]', "turns.0: should be an object, not 'x'"),
    ],
)
def test_a_message_about_turns_speaks_of_json_and_not_of_python(turns: str, message: str) -> None:
    assert refused(DialogueRequest, f'{{"turns": {turns}}}').message == message


@pytest.mark.parametrize("written", ["7", "true", "[]", "{}", "NaN", "null"])
def test_a_text_is_never_made_of_something_else(written: str) -> None:
    assert refused(SpeakRequest, f'{{"text":{written}}}').field == "text"


@pytest.mark.parametrize("model", [SpeakRequest, PublicSpeakRequest])
def test_the_text_is_required(model: type[Request]) -> None:
    error = refused(model, '{"engine":"e"}' if model is PublicSpeakRequest else "{}")
    assert (error.field, error.message) == ("text", "text: required")


@pytest.mark.parametrize("word", ["angry", "ordinary", "Hushed", "", "hushed "])
def test_a_delivery_outside_the_vocabulary_is_refused_with_the_words_there_are(word: str) -> None:
    error = refused(SpeakRequest, json.dumps({"text": "x", "delivery": word}))
    assert error.field == "delivery"
    assert all(part in error.message for part in ("hushed", "frantic", repr(word)))


@pytest.mark.parametrize("name", ["aac", "", "wav", "FLAC"])
def test_a_format_is_any_string(name: str) -> None:
    assert spoken(format=json.dumps(name)).format == name


def test_null_for_an_optional_field_is_the_same_as_leaving_it_out() -> None:
    fields = [name for name in PublicSpeakRequest.wire_names() if name not in ("engine", "text")]
    assert spoken(**dict.fromkeys(fields, "null")) == spoken()


@pytest.mark.parametrize(
    ("model", "body", "field"),
    [
        (SpeakRequest, {"text": "x", "engine": "e"}, "engine"),
        (SpeakRequest, {"text": "x", "keepAliveSeconds": 3}, "keepAliveSeconds"),
        (SpeakRequest, {"text": "x", "speed": 2}, "speed"),
        (SpeakRequest, {"text": "x", "Text": "y"}, "Text"),
        (SpeakRequest, {"text": "x", "": 1}, ""),
        (PublicSpeakRequest, {"text": "x", "engine": "e", "keep_alive_seconds": 3}, None),
        (DialogueRequest, {"turns": [], "delivery": "hushed"}, "delivery"),
        (DialogueRequest, {"turns": [{"speaker": "a", "text": "b", "voice": "c"}]}, None),
        (LoadRequest, {"variants": "x"}, "variants"),
        (FetchRequest, {"variant": "x", "force": True}, "force"),
        (OpenAISpeechRequest, {"model": "e", "input": "x", "delivery": "hushed"}, "delivery"),
        (OpenAISpeechRequest, {"model": "e", "input": "x", "responseFormat": "wav"}, None),
        (SpeakRequest, {"text": "x", "k" * 1_000_000: 1}, "k" * 60 + "…"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_unknown_field_is_refused_by_name(
    model: type[Request], body: dict[str, Any], field: str | None
) -> None:
    error = refused(model, json.dumps(body))
    assert "no such field" in error.message
    if field is None:
        last = json.dumps(body).rpartition('": ')[0].rpartition('"')[2]
        field = f"turns.0.{last}" if "turns" in body else last
    assert error.field == field


def test_a_fault_inside_a_list_is_named_by_its_path() -> None:
    turns = [TURN, {"speaker": "a"}]
    assert refused(DialogueRequest, json.dumps({"turns": turns})).field == "turns.1.text"


@pytest.mark.parametrize("body", ['{"turns":[]}', "{}", '{"turns":{}}', '{"turns":"ab"}'])
def test_a_dialogue_has_at_least_one_turn(body: str) -> None:
    assert refused(DialogueRequest, body).field == "turns"


BROKEN = [
    b"",
    b" ",
    b"{",
    b"{'text': 'x'}",
    b'{"text": "x",}',
    b'{"text": "x"} {}',
    b'{"text": x}',
    b"nothing",
    b'\xef\xbb\xbf{"text": "x"}',
    '{"text": "x"}'.encode("utf-16"),
    b'{"text": "\0"}',
    b'\0{"text": "x"}',
    b'{"text": "a\nb"}',
    b'{"text": "\\q"}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"params": ' + b"[" * 1000 + b"]" * 1000 + b"}",
    b'{"text": 1' + b"0" * 1_000_000 + b"}",
    b'{"text": "' + b"x" * 1_000_000,
]


@pytest.mark.parametrize("body", BROKEN, ids=lambda body: ascii(body[:24]))
def test_what_is_not_json_is_refused_with_the_place_of_its_fault(body: bytes) -> None:
    error = refused(SpeakRequest, body)
    assert error.field is None
    assert "not JSON" in error.message
    assert "line 1 column" in error.message or "line 2 column" in error.message


def test_a_string_that_is_not_unicode_is_refused() -> None:
    assert refused(SpeakRequest, '{"text": "\ud800"}').field == "text"


@pytest.mark.parametrize("body", [b"[]", b"null", b"7", b'"x"', b"true", b'[{"text": "x"}]'])
def test_a_body_that_is_no_object_is_refused_saying_what_came(body: bytes) -> None:
    error = refused(SpeakRequest, body)
    assert error.field is None
    assert "a JSON object, not " in error.message


MANY = 80_000
TURN = {"speaker": "a", "text": "b"}
EMPTY: dict[str, str] = {}


@pytest.mark.parametrize(
    ("model", "body", "field"),
    [
        (SpeakRequest, {"text": "x", "params": {str(n): "x" for n in range(MANY)}}, "params"),
        (SpeakRequest, {"text": "x"} | {str(n): 1 for n in range(MANY)}, "0"),
        (DialogueRequest, {"turns": [1] * MANY}, "turns"),
        (DialogueRequest, {"turns": [EMPTY] * MANY}, "turns"),
        (DialogueRequest, {"turns": [{str(n): 1 for n in range(MANY)}]}, "turns.0.0"),
        (
            DialogueRequest,
            {"turns": [TURN], "voices": {str(n): 1 for n in range(MANY)}},
            "voices",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_megabyte_of_faults_is_one_refusal(
    model: type[Request], body: dict[str, Any], field: str
) -> None:
    assert refused(model, json.dumps(body)).field == field


def test_as_many_turns_and_dials_as_anybody_needs_are_read() -> None:
    turns = [TURN] * TURNS_MAX
    assert len(parse_request(DialogueRequest, json.dumps({"turns": turns})).turns) == TURNS_MAX
    dials = {str(n): 1 for n in range(PARAMS_MAX)}
    assert spoken(params=json.dumps(dials)).params == dials
    assert refused(DialogueRequest, json.dumps({"turns": [*turns, TURN]})).field == "turns"


def test_a_megabyte_of_text_is_read() -> None:
    text = "é" * 500_000
    assert parse_request(SpeakRequest, json.dumps({"text": text})).text == text


@pytest.mark.parametrize("written", ['"alloy"', '{"id": "alloy"}'])
def test_openai_s_voice_is_a_string_or_an_object_with_an_id(written: str) -> None:
    asked = parse_request(OpenAISpeechRequest, f'{{"model":"e","input":"x","voice":{written}}}')
    assert asked.voice in ("alloy", OpenAIVoice(id="alloy"))


@pytest.mark.parametrize("written", ["7", "true", "[]", "{}", '{"id": 7}', '{"id": "a", "b": 1}'])
def test_another_kind_of_voice_is_refused_as_the_voice(written: str) -> None:
    error = refused(OpenAISpeechRequest, f'{{"model":"e","input":"x","voice":{written}}}')
    assert error.field == "voice"
    assert '{"id": string}' in error.message


def test_openai_s_request_takes_openai_s_names_and_nulls() -> None:
    body = (
        b'{"model":"e:v","input":"x","voice":null,"response_format":"mp3","speed":"1.0",'
        b'"instructions":"","stream_format":null}'
    )
    asked = parse_request(OpenAISpeechRequest, body)
    assert asked == OpenAISpeechRequest(
        model="e:v", input="x", response_format="mp3", speed=1.0, instructions=""
    )


def test_the_worker_is_not_told_what_is_the_core_s() -> None:
    asked = spoken(keepAliveSeconds="-1", params='{"dial": 1}', seed="3", stream="true")
    told = asked.for_worker(text="y", variant="turbo", delivery=None)
    assert type(told) is SpeakRequest
    assert told.to_object() == {
        "text": "y",
        "variant": "turbo",
        "params": {"dial": 1.0},
        "seed": 3,
        "stream": True,
    }


def test_nor_is_it_in_a_dialogue() -> None:
    asked = PublicDialogueRequest(
        turns=(Turn(speaker="a", text="x"),), voices={"a": "v"}, keep_alive_seconds=0
    )
    told = asked.for_worker(turns=(Turn(speaker="a", text="y"),), variant="full")
    assert type(told) is DialogueRequest
    assert told.to_object() == {
        "turns": [{"speaker": "a", "text": "y"}],
        "voices": {"a": "v"},
        "variant": "full",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [*PublicSpeakRequest.wire_names(), *DialogueRequest.wire_names(), "keep_alive_seconds"]
)
MODELS = st.sampled_from([PublicSpeakRequest, DialogueRequest, OpenAISpeechRequest, LoadRequest])


@given(
    MODELS,
    st.binary(max_size=100) | st.text(alphabet=st.characters(exclude_categories=()), max_size=100),
)
@example(LoadRequest, "\ud800")
def test_no_body_raises_anything_else(model: type[Request], body: bytes | str) -> None:
    try:
        parse_request(model, body)
    except BadRequest as error:
        assert error.message


@given(MODELS, st.dictionaries(NAMES, JSON, max_size=6))
def test_no_json_raises_anything_else(model: type[Request], body: dict[str, Any]) -> None:
    try:
        asked = parse_request(model, json.dumps(body))
    except BadRequest as error:
        assert error.message
    else:
        assert parse_request(model, asked.to_json()) == asked
