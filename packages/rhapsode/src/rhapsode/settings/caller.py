"""Who changes settings, and what would lock them out."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr
from rhapsode_contract import Conflict
from rhapsode_contract.quoting import shown

from rhapsode.settings.live import LiveSettings
from rhapsode.settings.setting import ORIGINS_KEY, SETTINGS, TOKEN_KEY


@dataclass(frozen=True)
class Caller:
    """What is known of whoever asks."""

    is_local: bool
    """On this machine. Everybody else showed the token."""

    origin: str | None = None
    """Of its page, where it is one and not this machine's own."""


def check_stays_admitted(caller: Caller, changes: Mapping[str, object], live: LiveSettings) -> None:
    """Refuses a change after which its caller could make no other.

    Args:
        caller: Whoever asks.
        changes: Checked values by dotted key; None clears.
        live: What is in use.

    Raises:
        Conflict: The token goes, and the caller is not local; or its page's origin goes.
    """
    if TOKEN_KEY in changes and not caller.is_local and not _is_token(changes[TOKEN_KEY]):
        raise Conflict(
            f"{TOKEN_KEY}: only a caller on this machine may clear it: nobody else would be"
            " admitted without one, you included",
            field=TOKEN_KEY,
        )
    if ORIGINS_KEY not in changes or caller.origin is None:
        return
    origins = changes[ORIGINS_KEY]
    kept = origins if origins is not None else live.beneath(SETTINGS[ORIGINS_KEY])
    assert isinstance(kept, tuple)
    if caller.origin not in kept:
        raise Conflict(
            f"{ORIGINS_KEY}: {shown(caller.origin)} has to stay in it, or this page could not"
            " change it again",
            field=ORIGINS_KEY,
        )


def _is_token(value: object) -> bool:
    return isinstance(value, SecretStr) and bool(value.get_secret_value())
