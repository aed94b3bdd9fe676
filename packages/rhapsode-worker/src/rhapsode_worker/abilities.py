"""What an adapter can do, told by what it overrides: nobody can claim what they did not write."""

from rhapsode_worker.engine import Engine


class Abilities:
    """The optional verbs of one engine (contract § 8)."""

    def __init__(self, engine: Engine) -> None:
        self.can_clone = _overrides(engine, "create_voice")
        """Makes voices from references."""

        self.can_blend = _overrides(engine, "blend_voice")
        """Makes voices from others."""

        self.can_delete = _overrides(engine, "delete_voice")

        self.has_previews = _overrides(engine, "preview")

        self.can_fetch = _overrides(engine, "fetch")

        self.has_dialogue = _overrides(engine, "dialogue")


def _overrides(engine: Engine, name: str) -> bool:
    return getattr(type(engine), name) is not getattr(Engine, name)
