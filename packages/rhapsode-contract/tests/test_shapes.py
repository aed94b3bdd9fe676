"""Every shape, to JSON and back (contract § 9, design § 1)."""

import json
import re
import types
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

import pytest
import rhapsode_contract
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AwareDatetime, TypeAdapter, ValidationError
from rhapsode_contract import (
    BadRequest,
    Capabilities,
    Handshake,
    Health,
    OpenAISpeechRequest,
    OpenAIVoice,
    Request,
    Shape,
    Timestamp,
    parse_request,
    read_shape,
)

S = TypeVar("S", bound=Shape)

OWN_NAMES = {OpenAISpeechRequest, OpenAIVoice}
"""Requests whose names are OpenAI's."""

quick = settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])


def below(cls: type[Shape]) -> Iterator[type[Shape]]:
    for child in cls.__subclasses__():
        if child.__module__.startswith("rhapsode_contract."):
            if child.model_fields:
                yield child
            yield from below(child)


SHAPES = sorted(set(below(Shape)), key=lambda shape: shape.__name__)
REQUESTS = [shape for shape in SHAPES if issubclass(shape, Request)]
READ = [shape for shape in SHAPES if not issubclass(shape, Request)]

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)
PLAIN: dict[object, st.SearchStrategy[Any]] = {
    str: TEXT,
    bool: st.booleans(),
    int: st.integers(1, 2**31),
    float: st.floats(allow_nan=False, allow_infinity=False),
    AwareDatetime: MOMENTS,
    datetime: MOMENTS,
    Any: st.integers() | TEXT | st.lists(st.booleans(), max_size=2),
}


def values_of(kind: object) -> st.SearchStrategy[Any]:
    """Returns values of a field's type; None stands for an absent field and is drawn apart."""
    if kind in PLAIN:
        return PLAIN[kind]
    if isinstance(kind, type) and issubclass(kind, Shape):
        return instances_of(kind)
    inner = get_args(kind)
    origin = get_origin(kind)
    if origin is Annotated:
        return values_of(inner[0])
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(one) for one in inner if one is not types.NoneType])
    if origin is dict:
        return st.dictionaries(TEXT, values_of(inner[1]), min_size=1, max_size=3)
    if origin is tuple and inner[1] is ...:
        return st.lists(values_of(inner[0]), min_size=1, max_size=3).map(tuple)
    assert origin is tuple, kind
    return st.tuples(*(values_of(one) for one in inner))


def instances_of(shape: type[S]) -> st.SearchStrategy[S]:
    """Returns instances of a shape, each optional field there or not."""
    fields = {
        name: values_of(info.annotation) if info.is_required() else maybe(info.annotation)
        for name, info in shape.model_fields.items()
    }
    return st.fixed_dictionaries(fields).map(
        lambda drawn: shape(**{name: value for name, value in drawn.items() if value is not None})
    )


def maybe(kind: object) -> st.SearchStrategy[Any]:
    return st.none() | values_of(kind)


def nulls_of(value: object) -> int:
    if isinstance(value, dict):
        return sum(nulls_of(one) for one in cast("dict[str, object]", value).values())
    if isinstance(value, list):
        return sum(nulls_of(one) for one in cast("list[object]", value))
    return value is None


def test_every_shape_of_the_package_is_public() -> None:
    public = vars(rhapsode_contract)
    for shape in SHAPES:
        assert public[shape.__name__] is shape
        assert shape.__name__ in rhapsode_contract.__all__


@pytest.mark.contract("d.json.camel-case")
@pytest.mark.parametrize("shape", SHAPES)
def test_every_name_on_the_wire_is_in_camel_case(shape: type[Shape]) -> None:
    for name, info in shape.model_fields.items():
        written = info.alias or name
        if shape in OWN_NAMES:
            assert written == name
        else:
            assert re.fullmatch(r"[a-z]+([A-Z][a-z0-9]*)*", written)
            assert written.lower() == name.replace("_", "")


@pytest.mark.parametrize("shape", SHAPES)
@quick
@given(data=st.data())
def test_a_shape_comes_back_equal_from_its_json(shape: type[Shape], data: st.DataObject) -> None:
    made = data.draw(instances_of(shape))
    sent = made.to_json()
    assert shape.model_validate_json(sent) == made
    assert json.loads(sent) == made.to_object()


@pytest.mark.parametrize("shape", SHAPES)
@quick
@given(data=st.data())
def test_an_optional_field_without_a_value_is_absent_and_not_null(
    shape: type[Shape], data: st.DataObject
) -> None:
    made = data.draw(instances_of(shape))
    sent = json.loads(made.to_json())
    there = {
        info.alias or name
        for name, info in shape.model_fields.items()
        if getattr(made, name) is not None
    }
    assert set(sent) == there
    assert nulls_of(sent) == 0


@pytest.mark.contract("9.additive.reader")
@pytest.mark.parametrize("shape", READ)
@quick
@given(data=st.data())
def test_a_reader_ignores_a_field_that_it_does_not_know(
    shape: type[Shape], data: st.DataObject
) -> None:
    made = data.draw(instances_of(shape))
    sent = made.to_object() | {"fromTheFuture": {"text": [None]}}
    assert read_shape(shape, json.dumps(sent)) == made


@pytest.mark.parametrize("shape", REQUESTS)
@quick
@given(data=st.data())
def test_a_request_refuses_a_field_that_it_does_not_know(
    shape: type[Request], data: st.DataObject
) -> None:
    made = data.draw(instances_of(shape))
    assert parse_request(shape, made.to_json()) == made
    with pytest.raises(BadRequest) as refusal:
        parse_request(shape, json.dumps(made.to_object() | {"fromTheFuture": 1}))
    assert refusal.value.field == "fromTheFuture"
    assert refusal.value.message.startswith("fromTheFuture: ")


@pytest.mark.parametrize("shape", REQUESTS)
def test_a_request_s_schema_and_its_python_form_refuse_it_too(shape: type[Request]) -> None:
    assert shape.model_json_schema()["additionalProperties"] is False
    with pytest.raises(ValidationError, match="from_the_future"):
        shape.model_validate({"from_the_future": 1})


@pytest.mark.parametrize("shape", REQUESTS)
def test_a_request_knows_only_the_names_of_the_wire(shape: type[Request]) -> None:
    assert shape.wire_names() == sorted(
        info.alias or name for name, info in shape.model_fields.items()
    )
    for name, info in shape.model_fields.items():
        if info.alias not in (None, name):
            with pytest.raises(BadRequest) as refusal:
                parse_request(shape, json.dumps({name: 1}))
            assert refusal.value.field == name


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_does_not_change(shape: type[Shape]) -> None:
    made = shape.model_construct()
    with pytest.raises(ValidationError, match="frozen"):
        setattr(made, next(iter(shape.model_fields)), None)


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2026, 9, 20, 11, 4, 2, 118_000, UTC), "2026-09-20T11:04:02.118Z"),
        (datetime(2026, 9, 20, 11, 4, tzinfo=UTC), "2026-09-20T11:04:00.000Z"),
        (datetime(2026, 9, 20, 11, 4, 2, 118_999, UTC), "2026-09-20T11:04:02.118Z"),
        (
            datetime(2026, 9, 20, 1, 30, tzinfo=timezone(timedelta(hours=5, minutes=30))),
            "2026-09-19T20:00:00.000Z",
        ),
    ],
)
def test_a_moment_is_written_in_utc_with_milliseconds(moment: datetime, written: str) -> None:
    moments: TypeAdapter[datetime] = TypeAdapter(Timestamp)
    assert moments.dump_json(moment) == f'"{written}"'.encode()


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Timestamp).validate_python(datetime(2026, 9, 20))


@pytest.mark.parametrize("measured", [0, -1, -1.5])
def test_a_measurement_that_failed_is_left_out_and_never_believed(measured: float) -> None:
    health = {"process": "up", "model": "loaded", "device": "cuda:0", "modelBytes": measured}
    read = read_shape(Health, json.dumps(health))
    assert read.model_bytes is None
    assert b"modelBytes" not in read.to_json()


def test_a_document_without_variants_is_none() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Capabilities.model_validate(
            {
                "contract": 1,
                "engine": {"id": "e", "displayName": "E", "adapterVersion": "1"},
                "license": {"code": "MIT", "weights": "MIT", "weightsCommercialUse": True},
                "device": {"type": "cpu", "name": "cpu"},
                "variants": {},
                "formats": ["wav"],
            }
        )


def test_a_handshake_that_is_not_ready_is_none() -> None:
    with pytest.raises(ValueError, match="ready"):
        read_shape(Handshake, b'{"ready":false,"contract":1,"engine":"e","listen":"unix:/s"}')
