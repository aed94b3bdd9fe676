"""What a start says of a setting that it can't go on with."""


class StartRefused(Exception):
    """A value, allowed by itself, with which no core can start here; one line that says why."""

    def __init__(self, message: str, *keys: str) -> None:
        """Args:
        message: For whoever set it.
        keys: Dotted, of the settings that it is about.
        """
        super().__init__(message)
        self.keys = keys
