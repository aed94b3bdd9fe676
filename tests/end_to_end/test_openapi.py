"""The document is true: made-up requests by the thousand get no answer that it does not describe.

schemathesis makes them from the document that a real server gives, single ones and sequences, good
and bad, and holds every answer against it.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from rhapsode.api.openapi.public import OPERATIONS

from .core_process import core, tone

SCHEMATHESIS: Final = Path(sys.executable).with_name("schemathesis")

CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "use_after_free",
    "error_codes",
)
"""Not that what the schema refuses is refused: a `"7"` is read as 7. Nor that what it allows is
taken: no schema says that a text has something to speak in it."""

NOT_REACHED: Final = frozenset(
    {"installEngine", "reinstallEngine", "uninstallEngine", "watchJob", "showDescription"}
)
"""They would run for minutes or for ever, or take the engine away that all the rest is asked of;
what they refuse is seen all the same. The last is what is read to begin with."""

PATIENCE_SECONDS: Final = 120
"""For the first phase, which goes on past its time, and for the report."""


def ask(folder: Path, seconds: int) -> Counter[str]:
    """Asks a server for so long; returns how often each operation succeeded."""
    seen = folder / "seen.txt"
    with core(folder, tone(), '[install]\nvenvDir = "venvs"\n') as server:
        finished = subprocess.run(
            [SCHEMATHESIS, "run", f"{server.url}/openapi.json", "--max-time", str(seconds)]
            + ["--checks", ",".join(CHECKS), "--continue-on-failure", "--request-timeout", "60"]
            + ["--generation-database", "none", "--no-color"],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": os.fspath(Path(__file__).parent),
                "RHAPSODE_TEST_SEEN": os.fspath(seen),
                "SCHEMATHESIS_HOOKS": "openapi_hooks",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds + PATIENCE_SECONDS,
        )
        assert finished.returncode == 0, finished.stdout
        bugs = [line for line in server.log if line.get("level") == "error"]
    assert bugs == []
    answers = (line.split() for line in seen.read_text(encoding="utf-8").splitlines())
    return Counter(name for name, status in answers if status.startswith("2"))


@pytest.fixture(autouse=True)
def _asks_nobody(  # pyright: ignore[reportUnusedFunction] - pytest finds it
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RHAPSODE_UPDATE_CHECK", "0")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.contract("9.openapi.true")
def test_for_a_minute_no_answer_is_outside_the_document(tmp_path: Path) -> None:
    succeeded = ask(tmp_path, 60)
    missed = {operation.name for operation in OPERATIONS} - set(succeeded)
    assert missed <= NOT_REACHED, "without successes the answers that matter were not seen"


@pytest.mark.soak
@pytest.mark.contract("9.openapi.true")
def test_for_ten_minutes_no_answer_is_outside_the_document(tmp_path: Path) -> None:
    succeeded = ask(tmp_path, 600)
    missed = {operation.name for operation in OPERATIONS} - set(succeeded)
    assert missed <= NOT_REACHED
