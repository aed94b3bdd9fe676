"""Makes `docs/reference/worker.md`: `python -m tests.reference.worker_page` writes it."""

from collections.abc import Mapping
from types import ModuleType
from typing import Final

import rhapsode_worker
from rhapsode_worker import weights
from rhapsode_worker.voicing import recipe, staging, store

from .entry import ROOT, entry

PAGE_FILE: Final = ROOT / "docs" / "reference" / "worker.md"

Name = tuple[ModuleType, str]
"""A public name, and whence it is imported."""


def _of(package: ModuleType, *names: str) -> list[Name]:
    return [(package, name) for name in names]


CHAPTERS: Final[Mapping[str, list[Name]]] = {
    "An engine": _of(
        rhapsode_worker,
        "Engine",
        "Variant",
        "NativeFormat",
        "LicenseFields",
        "Device",
        "ALL_CUES",
        "serve",
    ),
    "What it is asked": _of(rhapsode_worker, "SpeakRequest", "DialogueRequest", "Turn"),
    "Voices": [
        *_of(rhapsode_worker, "Voice", "NewVoice", "VoiceStore"),
        *_of(staging, "Staged"),
        *_of(recipe, "Recipe"),
        *_of(store, "StoredVoice"),
    ],
    "Long text": _of(rhapsode_worker, "split", "Segment", "Joint"),
    "What it may raise": _of(
        rhapsode_worker,
        "BadRequest",
        "UnknownVoice",
        "Unsupported",
        "ModelUnavailable",
        "OutOfMemory",
        "DeviceLost",
        "Internal",
    ),
    "What a worker says of itself": _of(rhapsode_worker, "Capabilities"),
    "Weights": _of(
        weights,
        "Weights",
        "WeightFile",
        "HubFile",
        "ReleaseFile",
        "IndexFile",
        "NpmFile",
        "ArchiveFile",
        "JoinedFile",
        "BuiltFile",
        "Patience",
        "Progress",
        "log_progress",
        "Source",
        "Errand",
        "SourceFailed",
    ),
}
"""Every public name, in the order in which an author meets them."""

INTRODUCTION: Final = """\
# The worker SDK, name by name

What `rhapsode_worker` and `rhapsode_worker.weights` export, and what they hand to an engine, for looking up. [Writing an engine](../writing-an-engine.md) is where to begin.

The page is made of the docstrings by `python -m tests.reference.worker_page`; change them, not this.
"""  # noqa: E501 - a paragraph is a line, so that a change shows as one line in a diff


def page() -> str:
    """Returns the whole page as Markdown."""
    parts = [INTRODUCTION.rstrip(), _contents()]
    for title, names in CHAPTERS.items():
        parts += [f"## {title}", *(entry(package, name) for package, name in names)]
    return "\n\n".join(parts) + "\n"


def _contents() -> str:
    return "\n".join(
        f"- {title}: " + ", ".join(f"[`{name}`](#{name.lower()})" for _, name in names)
        for title, names in CHAPTERS.items()
    )


if __name__ == "__main__":
    PAGE_FILE.parent.mkdir(exist_ok=True)
    PAGE_FILE.write_text(page(), encoding="utf-8")
