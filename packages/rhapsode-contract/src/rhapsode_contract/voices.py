"""Voices (contract § 7)."""

import re
from typing import Final

from rhapsode_contract.errors import BadRequest
from rhapsode_contract.quoting import shown
from rhapsode_contract.shape import Shape

VOICE_ID_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
"""What a voice id is, as a regular expression; to be matched whole."""

_VOICE_ID: Final = re.compile(VOICE_ID_PATTERN)


class Voice(Shape, defer_build=False):  # adapters' threads make it
    """A voice as an engine lists it."""

    id: str

    label: str

    description: str | None = None

    spec: str
    """Opaque; changes whenever the rendering would. Clients key cached previews on it."""

    tags: tuple[str, ...] | None = None

    preview_url: str | None = None
    """Where a sample is heard; follow it, never build one. Absent where there is none."""


def check_voice_id(voice_id: str, field: str = "voice") -> str:
    """Returns `voice_id` if it is one: an id becomes a file's name, so this comes before all else.

    Raises:
        BadRequest: It is not 1 to 64 ASCII letters, digits, `-` and `_` that begin with a letter
            or a digit.
    """
    if _VOICE_ID.fullmatch(voice_id):
        return voice_id
    raise BadRequest(
        f"{field}: a voice id is 1 to 64 letters, digits, - and _, beginning with a letter or"
        f" digit, not {shown(voice_id)}",
        field=field,
    )
