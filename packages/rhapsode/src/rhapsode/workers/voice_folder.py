"""The folder below which engines keep their voices, looked at before anybody needs it."""

import logging
import os
from pathlib import Path
from typing import Final

from rhapsode.settings.place import check_folder

logger = logging.getLogger(__name__)

VOICES_KEY: Final = "workers.voiceDir"


def check_voice_folder(folder: Path) -> None:
    """Looks whether voices can be kept in a folder, which need not be there yet.

    One that cannot be written is only logged: an engine speaks without making voices.

    Raises:
        FolderRefused: Something else is there, or on the way there.
    """
    there = check_folder(VOICES_KEY, folder)
    if not os.access(there, os.W_OK | os.X_OK):
        logger.warning("%s: %s cannot be written; no voices can be made", VOICES_KEY, there)
