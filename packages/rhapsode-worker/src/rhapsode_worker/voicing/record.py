"""What is known of a created voice beside its reference."""

import re
from typing import Final

from rhapsode_contract import Shape

_NAME: Final = re.compile(r"(?P<file>[A-Za-z0-9_-]+\.[A-Za-z0-9]+)\.(?P<digest>[0-9a-f]{64})\.json")


class Record(Shape, defer_build=False):  # adapters' threads read it
    """A created voice, as it is kept.

    A record is found by the name and the contents of the reference it was made with, so it never
    describes another: not the one that replaces it, nor one that an operator puts in its place.
    """

    label: str

    description: str | None = None

    tags: tuple[str, ...] = ()

    transcript: str | None = None

    created_from: str | None = None
    """What the adapter says the voice was made from, such as a blend's recipe."""

    token: str
    """Another for every create, so that a voice made anew has another spec."""

    supersedes: tuple[str, ...] = ()
    """Files of other types that were this voice, until they have been removed."""


def record_name(file: str, digest: str) -> str:
    """Returns the name of the record of a reference.

    Args:
        file: The reference's name.
        digest: SHA-256 of its contents, in hexadecimal.
    """
    return f"{file}.{digest}.json"


def described_by(name: str) -> tuple[str, str] | None:
    """Returns the file and the digest that a record of this name describes; None for no record."""
    found = _NAME.fullmatch(name)
    return (found["file"], found["digest"]) if found else None
