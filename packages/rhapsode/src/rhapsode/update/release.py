"""A release as GitHub tells of it, and whether it is newer: functions of values."""

import re
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

PAGES: Final = "https://github.com/"
"""What the address of a release's page begins with; any other is shown to nobody."""

_TAG: Final = re.compile(r"[!-~]{1,100}")
_PAGE: Final = re.compile(re.escape(PAGES) + r"[!-~]{1,500}")
_VERSION: Final = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")


class NoAnswer(Exception):
    """A check that learned nothing; the message is for the log."""


@dataclass(frozen=True)
class Release:
    """The latest one."""

    tag: str
    """As it was given, such as `v0.2.0`; printable ASCII."""

    page: str
    """Where a person reads about it."""

    @property
    def version(self) -> str:
        """The version that the tag names, or the tag itself where it names none."""
        return self.tag.removeprefix("v") if version_of(self.tag) else self.tag


class _Answer(BaseModel):
    """What we read of GitHub's answer, which holds far more."""

    model_config = ConfigDict(strict=True)

    tag_name: str
    html_url: str
    draft: bool = False
    prerelease: bool = False


def read_release(body: bytes) -> Release:
    """Reads the answer to "which release is the latest?".

    Raises:
        NoAnswer: It tells of none that a person could be offered.
    """
    try:
        answer = _Answer.model_validate_json(body)
    except ValidationError as failure:
        first = failure.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise NoAnswer(f"an answer that tells of no release: {place} {first['msg']}") from None
    if answer.draft or answer.prerelease:
        # GitHub's latest is neither, so whoever says so is not to be believed on the rest.
        raise NoAnswer("an answer that tells of a draft or a prerelease")
    if not _TAG.fullmatch(answer.tag_name):
        raise NoAnswer("an answer whose tag is none")
    if not _PAGE.fullmatch(answer.html_url):
        raise NoAnswer(f"an answer whose release has no page on {PAGES}")
    return Release(answer.tag_name, answer.html_url)


def version_of(text: str) -> tuple[int, int, int] | None:
    """Returns the parts of a release version, `x.y.z` with or without a `v`; None for all else."""
    found = _VERSION.fullmatch(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def is_newer(latest: str, than: str) -> bool:
    """Says whether one version is above another; never where either is no release version."""
    theirs, ours = version_of(latest), version_of(than)
    return theirs is not None and ours is not None and theirs > ours
