"""Whether a newer release exists (contract § 9)."""

from typing import Literal

from rhapsode_contract.shape import Shape, Timestamp


class UpdateStatus(Shape):
    """What `GET /update` answers; the optional fields are there only with `ok`."""

    version: str

    check: Literal["off", "pending", "ok", "failed"]

    latest: str | None = None

    update_available: bool | None = None

    release_url: str | None = None

    checked_at: Timestamp | None = None

    distribution: Literal["docker", "source"]
