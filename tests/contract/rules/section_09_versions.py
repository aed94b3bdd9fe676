"""Versions of packages, which are not the contract's (section 9)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "9.versions.one",
        "Every package has one version, and they are released together.",
    ),
    Rule(
        "9.versions.worker-version",
        "An engine's summary has `workerVersion`, the worker SDK in its virtualenv, read without "
        "any process and nothing more than a diagnostic.",
    ),
    Rule(
        "9.versions.worker-version-absent",
        "It is absent where the server cannot say: a remote engine, a command, metadata that "
        "cannot be read.",
    ),
    Rule(
        "9.versions.outdated",
        "`outdated` is true where that version differs from the server's, older or newer, false "
        "where it is the same, absent where it is not known.",
    ),
)
