"""The folder below which engines keep their voices, looked at before anybody needs it."""

import logging
import os
from pathlib import Path

logger = logging.getLogger(__name__)


class VoiceFolderRefused(Exception):
    """There can be no voices where they should be; one line that says why."""


def check_voice_folder(folder: Path) -> None:
    """Looks whether voices can be kept in a folder, which need not be there yet.

    One that cannot be written is only logged: an engine speaks without making voices.

    Raises:
        VoiceFolderRefused: Something else is there, or on the way there.
    """
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise VoiceFolderRefused(f"workers.voiceDir: {there} is no folder")
    if not os.access(there, os.W_OK | os.X_OK):
        logger.warning("workers.voiceDir: %s cannot be written; no voices can be made", there)
