"""Lines that programs print, made fit for a feed and for a message."""

import re
from typing import Final

from rhapsode_contract.quoting import cut

LINE_CHARACTERS: Final = 1000
"""A longer line is cut: compilers print commands of many thousands."""

_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, and where the cursor is
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


def readable(line: bytes) -> str:
    """Returns a printed line as a person would see it in the end; may be blank.

    Undecodable bytes are replaced, escape sequences and control characters taken out, and of a line
    that was written over itself, as progress bars are, only what was written last stays.
    """
    text = _ESCAPES.sub("", line.decode("utf-8", "replace"))
    layers = [layer for layer in text.split("\r") if layer.strip()]
    last = layers[-1] if layers else ""
    return cut(_CONTROLS.sub("", last).expandtabs().rstrip(), LINE_CHARACTERS)
