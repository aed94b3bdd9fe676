"""Which release this is."""

from importlib.metadata import version
from typing import Final

VERSION: Final = version("rhapsode")
"""Of this package, and of every other that was released with it."""
