"""OpenAI's speech request and its errors, as far as they are served (contract § 11)."""

from typing import Annotated, Any, Literal

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from rhapsode_contract.shape import Number, Request, Shape


class OpenAIVoice(Request):
    """A voice by reference, as the official clients may send it."""

    id: str


def _one_refusal(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    # Of a union pydantic reports each member's failure, under names that are no field's.
    try:
        return read(value)
    except ValidationError:
        raise PydanticCustomError("voice_kind", 'should be a string or {{"id": string}}') from None


class OpenAISpeechRequest(Request):
    """The body of `POST /v1/audio/speech`; its names are OpenAI's, in snake case."""

    model_config = {"alias_generator": None}

    model: str
    """An engine id, or `engine:variant`."""

    input: str

    voice: Annotated[str | OpenAIVoice | None, WrapValidator(_one_refusal)] = None

    response_format: str | None = None

    speed: Number | None = None

    instructions: str | None = None

    stream_format: str | None = None


class OpenAIErrorDetail(Shape):
    """One failure in OpenAI's words; `code` is ours."""

    message: str

    type: Literal["invalid_request_error", "server_error"]

    param: str | None = None

    code: str

    retryable: bool


class OpenAIErrorBody(Shape):
    """OpenAI's envelope."""

    error: OpenAIErrorDetail
