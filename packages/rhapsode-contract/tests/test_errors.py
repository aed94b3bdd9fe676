"""The taxonomy of contract § 6, and what a peer's envelope becomes."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rhapsode_contract import (
    ERRORS,
    BadRequest,
    EngineFault,
    ErrorBody,
    ErrorCode,
    ForeignError,
    Internal,
    MethodNotAllowed,
    ModelUnavailable,
    RequestError,
    RhapsodeError,
    RouteUnknown,
    Unavailable,
    errors,
    read_error,
)

TABLE = {
    "bad_request": (400, False, RequestError),
    "unknown_engine": (404, False, RequestError),
    "unknown_voice": (404, False, RequestError),
    "unsupported": (422, False, RequestError),
    "model_unavailable": (503, True, Unavailable),
    "oom": (503, True, Unavailable),
    "overloaded": (429, True, Unavailable),
    "internal": (500, False, EngineFault),
    "forbidden": (403, False, RequestError),
    "conflict": (409, False, RequestError),
}
"""The table of § 6, and whose fault each is."""


def below(cls: type[RhapsodeError]) -> Iterator[type[RhapsodeError]]:
    """Yields the classes of this package; what others have derived is theirs."""
    for child in cls.__subclasses__():
        if child.__module__ == errors.__name__:
            yield child
            yield from below(child)


def test_the_codes_are_those_of_the_contract_in_its_order() -> None:
    assert [code.value for code in ErrorCode] == list(TABLE)


@pytest.mark.parametrize("code", TABLE)
def test_a_code_has_the_status_and_retryable_of_the_table(code: str) -> None:
    cls = ERRORS[ErrorCode(code)]
    status, is_retryable, fault = TABLE[code]
    assert (cls.code, int(cls.status), cls.retryable) == (code, status, is_retryable)
    assert issubclass(cls, fault)


def test_exactly_one_class_defines_each_code() -> None:
    defining = [cls for cls in below(RhapsodeError) if "code" in vars(cls)]
    assert sorted(cls.code for cls in defining) == sorted(ErrorCode)
    assert {cls.code: cls for cls in defining} == ERRORS


def test_a_class_without_a_code_of_its_own_groups_or_refines() -> None:
    groups = {cls for cls in below(RhapsodeError) if not hasattr(cls, "code")}
    refined = {cls for cls in below(RhapsodeError) if "code" not in vars(cls)} - groups
    assert groups == {RequestError, Unavailable, EngineFault}
    assert refined == {RouteUnknown, MethodNotAllowed}
    assert (RouteUnknown.status, MethodNotAllowed.status) == (404, 405)
    assert all(issubclass(cls, BadRequest) for cls in refined)


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    drawn = [line for line in (errors.__doc__ or "").splitlines() if "─ " in line]
    rows = [line.rpartition("─ ") for line in drawn]
    names = [row[2].split()[0] for row in rows]
    depths = [len(row[0]) // 4 for row in rows]
    classes = list(below(RhapsodeError))
    assert names == [cls.__name__ for cls in classes]
    for row, depth, cls in zip(rows, depths, classes, strict=True):
        assert depth == len(cls.__mro__) - len(RhapsodeError.__mro__) - 1
        if hasattr(cls, "code"):
            assert row[2].split()[1:] == [str(int(cls.status)), cls.code.value]


def test_every_retryable_error_says_when() -> None:
    retryable = [cls for cls in ERRORS.values() if cls.retryable]
    assert all(issubclass(cls, Unavailable) and cls.retry_after_seconds > 0 for cls in retryable)


def test_an_error_keeps_its_message_and_its_field() -> None:
    error = BadRequest("text: required", field="text")
    assert (str(error), error.message, error.field) == ("text: required", "text: required", "text")
    assert BadRequest("x").field is None


@pytest.mark.parametrize("cls", [*ERRORS.values(), RouteUnknown, MethodNotAllowed])
def test_an_envelope_is_read_back_as_the_error_it_was_made_of(cls: type[RhapsodeError]) -> None:
    body = ErrorBody.of(cls("no voice “x”")).to_json()
    read = read_error(int(cls.status), body)
    assert (type(read), read.message) == (cls, "no voice “x”")


@pytest.mark.parametrize("code", TABLE)
def test_an_envelope_holds_code_message_and_retryable_and_nothing_else(code: str) -> None:
    error = ERRORS[ErrorCode(code)]("why", field="text")
    assert json.loads(ErrorBody.of(error).to_json()) == {
        "error": {"code": code, "message": "why", "retryable": TABLE[code][1]}
    }


def test_a_known_code_with_an_unlikely_status_is_still_that_error() -> None:
    read = read_error(418, ErrorBody.of(ERRORS[ErrorCode.OOM]("full")).to_json())
    assert type(read) is ERRORS[ErrorCode.OOM]


@pytest.mark.contract("d.errors.unknown-code")
@pytest.mark.parametrize("is_retryable", [True, False])
def test_a_code_we_do_not_know_keeps_message_status_and_retryable(is_retryable: bool) -> None:
    envelope = {"error": {"code": "quota", "message": "gone", "retryable": is_retryable, "new": 1}}
    read = read_error(402, json.dumps(envelope).encode())
    assert isinstance(read, ForeignError)
    assert (read.code, read.message, read.retryable, read.status) == (
        "quota",
        "gone",
        is_retryable,
        402,
    )
    assert read_error(402, ErrorBody.of(read).to_json()).__dict__ == read.__dict__


@pytest.mark.parametrize("code", ["quota", "internal"])
@pytest.mark.parametrize("status", [204, 302, 399, 600, 999])
def test_what_cannot_be_passed_on_with_its_status_is_the_peers_fault(
    status: int, code: str
) -> None:
    envelope = {"error": {"code": code, "message": "gone", "retryable": True}}
    read = read_error(status, json.dumps(envelope).encode())
    assert type(read) is Internal
    assert str(status) in read.message
    assert f"{code}: gone" in read.message


def test_a_known_code_that_says_otherwise_of_a_retry_keeps_what_it_says() -> None:
    read = read_error(500, b'{"error":{"code":"internal","message":"m","retryable":true}}')
    assert isinstance(read, ForeignError)
    assert (read.code, read.retryable) == ("internal", True)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Bad Gateway</html>",
        b"[]",
        b"null",
        b"{}",
        b'{"error":"no"}',
        b'{"error":{"code":"oom"}}',
        b'{"error":{"code":7,"message":"m","retryable":true}}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("status", [404, 500, 502, 503, 504])
def test_a_body_that_is_no_envelope_is_a_gateways_or_nobodys_and_names_the_status(
    status: int, body: bytes
) -> None:
    read = read_error(status, body)
    assert type(read) is (Internal if status <= 500 else ModelUnavailable)
    assert str(status) in read.message


@given(st.integers(100, 999), st.binary(max_size=200))
def test_no_body_makes_reading_an_error_fail(status: int, body: bytes) -> None:
    assert isinstance(read_error(status, body), RhapsodeError | ForeignError)


@given(st.text(alphabet=st.characters(exclude_categories=())))
@example("no file a\udc80.wav")
def test_any_message_can_be_told_even_one_that_is_not_valid_unicode(message: str) -> None:
    body = ErrorBody.of(BadRequest(message)).to_json()
    assert read_error(400, body).message == message.encode("utf-8", "replace").decode()
