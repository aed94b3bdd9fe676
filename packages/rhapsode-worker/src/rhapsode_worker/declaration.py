"""What an adapter says of itself, held against what can be meant; each error names the part."""

import re
from typing import Final, cast

from rhapsode_worker.declared import checked_list
from rhapsode_worker.engine import Engine, LicenseFields

_FILE_TYPE: Final = re.compile(r"[a-z0-9]+")


def check_engine(engine: Engine) -> None:
    """Checks what an engine declares beside its variants.

    Raises:
        ValueError: A part of it makes no sense.
    """
    _check_license(getattr(engine, "license", None))
    for name, least in (("concurrency", 1), ("queue_limit", 0), ("max_speakers", 1)):
        number = getattr(engine, name)
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ValueError(f"{name} is {number!r}, a whole number from {least} is needed")
    types = checked_list("reference_formats", engine.reference_formats)
    for kind in types:
        if not isinstance(kind, str) or not _FILE_TYPE.fullmatch(kind):
            raise ValueError(f"reference_formats: {kind!r} is no file type; say 'wav', not '.WAV'")
    for name in engine.variants():
        if not name.strip():
            raise ValueError(f"variants: {name!r} is no name")


def _check_license(license: object) -> None:
    if not isinstance(license, dict):
        raise ValueError(f"license is {license!r}; LicenseFields(...) is needed")
    told = cast("dict[str, object]", license)
    known = LicenseFields.__annotations__
    for name in told:
        if name not in known:
            raise ValueError(f"license: {name!r} is none of {', '.join(known)}")
    for name in known:
        wanted = bool if name == "weights_commercial_use" else str
        if name not in told:
            if name != "notes":
                raise ValueError(f"license: {name} is missing")
        elif not isinstance(told[name], wanted):
            raise ValueError(f"license: {name} is {told[name]!r}; a {wanted.__name__} is needed")
