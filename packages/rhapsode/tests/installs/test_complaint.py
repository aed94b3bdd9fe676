"""Why a command failed, in outputs of pip, uv and Python that were kept as they came."""

from pathlib import Path

import pytest
from rhapsode.installs.complaint import complaint

SAID = Path(__file__).with_name("said")

PASSING = {
    "old-nonet": "Connection refused",
    "pip-nonet": "Connection refused",
    "pip-nospace": "No space left on device",
    "pip-venv-nospace": "No space left on device",
    "uv-fetch": "Connection refused",
    "uv-nonet": "Failed to fetch: https://index.example/simple/colorama/: Connection refused",
    "uv-nospace": "No space left on device",
}
LASTING = {
    "old-cmake": "Could not find the compiler specified in the environment variable CC: gcc.",
    "old-nocc": "[Errno 2] No such file or directory: 'gcc'",
    "pip-404": "Could not find a version that satisfies the requirement colorama",
    "pip-cmake": "Could not find the compiler specified in the environment variable CC: gcc.",
    "pip-conflict": "alpha 1.0 depends on gamma==1.0 beta 1.0 depends on gamma==2.0",
    "pip-hash": "gamma==1.0 from file:///srv/rhapsode/wheels/gamma-1.0-py3-none-any.whl",
    "pip-nocc": "[Errno 2] No such file or directory: 'gcc'",
    "pip-nohdr": "cbad.c:1:10: fatal error: no_such_header.h: No such file or directory",
    "pip-nomatch-version": "requirement gamma==9.9 (from versions: 1.0, 2.0)",
    "pip-requires-python": "'future' requires a different Python: 3.11.7 not in '>=3.20'",
    "pip-tls": "certificate verify failed: self-signed certificate",
    "uv-404": "Because colorama was not found in the package registry",
    "uv-cmake": "Could not find the compiler specified in the environment variable CC: gcc.",
    "uv-conflict": "all versions of beta depend on gamma==2.0 and all versions of alpha depend on",
    "uv-hash": "Hash mismatch for `gamma==1.0` Expected: sha256:000",
    "uv-nocc": "[Errno 2] No such file or directory: 'gcc'",
    "uv-nohdr": "cbad.c:1:10: fatal error: no_such_header.h: No such file or directory",
    "uv-nomatch-version": "there is no version of gamma==9.9",
    "uv-noname": "No interpreter found for executable name `nosuchpython`",
    "uv-norange": "No interpreter found for Python >=3.20, <3.22",
    "uv-requires-python": "future==1.0 requires Python >=3.20",
    "uv-tls": "invalid peer certificate",
    "verify-chained": "ImportError: numpy could not be loaded; original: No module named",
    "verify-missing": "ModuleNotFoundError: No module named 'rhapsode_engine_tone'",
    "verify-raise": "RuntimeError: libfoo.so.1 is not to be had",
    "verify-syntax": "SyntaxError: '(' was never closed",
}


def said(name: str) -> list[str]:
    """Returns the lines of a kept output."""
    return (SAID / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.contract("10.building.message")
@pytest.mark.parametrize(("name", "why"), [*PASSING.items(), *LASTING.items()])
def test_the_line_that_says_why_is_found(name: str, why: str) -> None:
    assert why in complaint(said(name)).text


@pytest.mark.parametrize("name", [*PASSING, *LASTING])
def test_only_what_may_be_otherwise_later_may_pass(name: str) -> None:
    assert complaint(said(name)).may_pass == (name in PASSING)


def test_every_kept_output_is_judged() -> None:
    assert {path.stem for path in SAID.iterdir()} == {*PASSING, *LASTING}


@pytest.mark.parametrize("name", [*PASSING, *LASTING])
def test_the_reason_is_one_line_of_bounded_length(name: str) -> None:
    text = complaint(said(name)).text
    assert text == " ".join(text.splitlines())
    assert len(text) < 1000


def test_a_try_that_went_well_in_the_end_is_not_why_a_build_failed() -> None:
    warning = next(line for line in said("pip-nonet") if "after connection broken" in line)
    assert "'gcc'" in complaint([warning, *said("pip-nocc")]).text


def test_a_try_for_another_package_is_not_why_one_is_not_there() -> None:
    warning = next(line for line in said("pip-nonet") if "after connection broken" in line)
    assert "gamma==9.9" in complaint([warning, *said("pip-nomatch-version")]).text


@pytest.mark.parametrize("name", ["pip-nocc", "uv-nocc"])
def test_a_build_that_gives_no_known_reason_is_quoted_at_its_end(name: str) -> None:
    lines = [line.replace("error: [Errno 2]", "it went wrong:") for line in said(name)]
    assert complaint(lines).text == "it went wrong: No such file or directory: 'gcc'"


def test_a_failed_build_of_a_build_tool_says_why_too() -> None:
    lines = [
        "  error: subprocess-exited-with-error",
        "  × pip subprocess to install build dependencies did not run successfully.",
        "  ╰─> [2 lines of output]",
        "      ERROR: Could not find a version that satisfies the requirement hatchling",
        "      ERROR: No matching distribution found for hatchling",
        "      [end of output]",
        "ERROR: Failed to build 'it' when installing build dependencies",
    ]
    assert complaint(lines).text.endswith("the requirement hatchling")


def test_a_download_cut_off_in_the_middle_may_pass() -> None:
    told = complaint(["ERROR: Could not install packages due to an OSError: Read timed out."])
    assert told.may_pass


def test_a_program_of_no_known_form_is_quoted_at_its_last_line_or_its_last_error() -> None:
    assert complaint(["one", "", "two", "  "]).text == "two"
    assert complaint(["An Error occurred", "see the log"]).text == "An Error occurred"
    assert complaint([]).text == ""
