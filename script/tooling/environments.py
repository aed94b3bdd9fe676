"""The virtualenvs of this checkout."""

from commands import ROOT
from environment import Environment

OURS = (
    "rhapsode-contract",
    "rhapsode-http",
    "rhapsode-worker",
    "rhapsode",
    "rhapsode-conform",
    "rhapsode-engine-tone",
    "rhapsode-engine-hibari",
    "rhapsode-engine-kokoro",
    "rhapsode-engine-kokoro-espeak",
)
"""What development is done in; every other engine has an environment of its own."""

SERVER = Environment(
    name="the server",
    folder=ROOT / ".venv",
    locks=(ROOT / "constraints.txt",),
    packages=OURS,
    is_editable=True,
)

DEVELOPMENT = Environment(
    name="the development environment",
    folder=SERVER.folder,
    locks=(ROOT / "constraints.txt", ROOT / "constraints-dev.txt"),
    packages=OURS,
    is_editable=True,
)
"""The server's, and what tests and checks need beside it."""

HIBARI = Environment(
    name="hibari",
    folder=ROOT / ".cache" / "hibari",
    locks=(ROOT / "packages" / "rhapsode-engine-hibari" / "constraints.txt",),
    packages=("rhapsode-contract", "rhapsode-http", "rhapsode-worker", "rhapsode-engine-hibari"),
)
"""The default engine for tests and benches, as an operator's own config would have it."""

RECOGNISER = Environment(
    name="the recogniser",
    folder=ROOT / ".cache" / "recogniser",
    locks=(ROOT / "tests" / "recogniser" / "constraints.txt",),
)
"""Speech to text, for the tests that listen to what was spoken. No part of Rhapsode."""
