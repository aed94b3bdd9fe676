"""How the raw worker says no."""

import json

_STATUSES = {
    "bad_request": 400,
    "unknown_voice": 404,
    "unsupported": 422,
    "model_unavailable": 503,
    "overloaded": 429,
    "internal": 500,
    "conflict": 409,
}
_RETRYABLE = {"model_unavailable", "overloaded"}


class Refusal(Exception):
    """Ends a request with an error."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retryable: bool | None = None,
        content_type: str = "application/json",
        extra: dict[str, object] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Takes what the code does not settle, or settles otherwise in a worker that lies."""
        super().__init__(message)
        self.status = status or _STATUSES[code]
        is_retryable = code in _RETRYABLE if retryable is None else retryable
        error = {"code": code, "message": message, "retryable": is_retryable, **(extra or {})}
        self.body = json.dumps({"error": error}).encode()
        self.headers = {"content-type": content_type, **(headers or {})}
        if is_retryable:
            self.headers["retry-after"] = "1"
