"""Where an engine keeps its weights."""

from collections.abc import Mapping
from pathlib import Path

import platformdirs


def weights_dir(engine_id: str, environ: Mapping[str, str]) -> Path:
    """Returns the folder of an engine's weights; it need not exist yet.

    Args:
        engine_id: The engine's id, checked.
        environ: The worker's variables. `RHAPSODE_WEIGHTS_DIR` is the folder of this engine;
            without it one in the user's data folder is taken.
    """
    if told := environ.get("RHAPSODE_WEIGHTS_DIR"):
        return Path(told)
    return platformdirs.user_data_path("rhapsode") / "weights" / engine_id.replace(":", "_")
