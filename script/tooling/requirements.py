"""What our packages ask of others."""

import re
import tomllib
from collections.abc import Iterable

from environment import PACKAGES


def needs_of(packages: Iterable[str]) -> list[str]:
    """Returns what the packages ask of others, with the ranges they allow, sorted."""
    ours = {path.parent.name for path in PACKAGES.glob("*/pyproject.toml")}
    found: set[str] = set()
    for name in packages:
        text = (PACKAGES / name / "pyproject.toml").read_text(encoding="utf-8")
        asked: list[str] = tomllib.loads(text)["project"]["dependencies"]
        found.update(need for need in asked if _name(need) not in ours)
    return sorted(found)


def ours_in(package: str) -> set[str]:
    """Returns one of our packages and those of ours that it brings."""
    ours = {path.parent.name for path in PACKAGES.glob("*/pyproject.toml")}
    found: set[str] = set()
    wanted = {package}
    while wanted:
        name = wanted.pop()
        found.add(name)
        text = (PACKAGES / name / "pyproject.toml").read_text(encoding="utf-8")
        asked: list[str] = tomllib.loads(text)["project"]["dependencies"]
        wanted |= {_name(need) for need in asked} & ours - found
    return found


def _name(need: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", need)
    return found.group().lower() if found else need
