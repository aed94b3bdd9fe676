"""The settings document (contract § 10, "Settings")."""

from typing import Any, Literal

from rhapsode_contract.shape import Shape


class SettingField(Shape):
    """Where one setting's value came from and when a change to it applies."""

    key: str
    """Dotted, such as `residency.keepAliveSeconds`."""

    source: Literal["default", "config", "database"]

    applies: Literal["live", "restart"]

    saved: Any | None = None
    """What waits in the database for a restart; `true` for the token."""


class SettingsDocument(Shape):
    """What `GET /settings` and `PATCH /settings` answer."""

    values: dict[str, Any]
    """What the running process uses, by section; never the token."""

    fields: tuple[SettingField, ...]
