"""Makes `docs/settings.md`: `python -m tests.reference.settings_page` writes it."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.field import LARGEST_COUNT, LONGEST_SECONDS, FileOnly
from rhapsode.settings.model import Settings
from rhapsode.settings.setting import ENGINE_SETTINGS, ENGINES, SETTINGS, Setting

from .entry import ROOT

PAGE_FILE: Final = ROOT / "docs" / "settings.md"

INTRODUCTION: Final = """\
# Settings

Everything that an operator decides, in `rhapsode.toml` (or `rhapsode.config.json`, with the same names) and through `GET` and `PATCH /settings`. A value comes from the first of these that has one:

1. the state database, `rhapsode.db` beside the config file, which `PATCH /settings` writes;
2. the config file, which the server never writes;
3. the default.

The file is the first found of `--config`, `$RHAPSODE_CONFIG`, `./rhapsode.toml` and `rhapsode.toml` in the user's config folder, and there need not be one. A folder that is not absolute lies relative to the file.

```toml
[server]
port = 8081

[residency]
keepAliveSeconds = 900

[engines.tone]
venv = "venvs/tone"
keepAliveSeconds = -1
```

A change to a setting that is *live* applies at once; any other waits for the next start, and `GET /settings` shows it as `saved` until then:

```sh
curl -X PATCH localhost:8080/settings -H 'Content-Type: application/json' \\
    -d '{"residency": {"keepAliveSeconds": 900}, "server": {"port": null}}'
```

`null` clears what the database holds. A patch that is refused in any part changes nothing, and one with a value that the next start could not use, such as a host that is not this machine's or a folder that can't be made, is refused. Should a saved value stop a start all the same, `rhapsode serve --ignore-saved` starts with the file and the defaults alone (installed engines stay), and the value can be cleared then. Both routes answer this machine, and callers who show the token.

The page is made of the model by `python -m tests.reference.settings_page`; change that, not this.
"""  # noqa: E501 - a paragraph is a line, so that a change shows as one line in a diff

FOLDER_DEFAULTS: Final = {
    "workers.socketDir": "in the user's runtime folder",
    "workers.voiceDir": "`voices` in the user's data folder",
    "install.venvDir": "`venvs` in the user's data folder",
    "install.sourceDir": "the checkout's `packages`, where the server runs from one",
    "install.python": "the Python that runs the server",
}
"""Of what depends on the user and the machine."""

KINDS: Final[dict[object, str]] = {
    bool: "`true`, `false`",
    float: "number",
    int: "whole number",
    Path: "folder",
    SecretStr: "string",
    str: "string",
}

UNTOLD_LIMITS: Final = {LARGEST_COUNT, LONGEST_SECONDS, LONGEST_SECONDS * 1000}
"""Upper ends that nobody comes near."""

ENGINES_CHAPTER: Final = """\
## An engine's own

`[engines.<id>]` in the file. What an install records in the database looks the same; where both name an engine, the file's entry counts.

One of the entry is a setting like those above, and can be changed through `PATCH /settings`, as `{"engines": {"<id>": {…}}}`:
"""  # noqa: E501 - as above

ENTRY_CHAPTER: Final = """\
The rest says where the engine is and how it is started, and is changed by editing the file or by reinstalling. An entry has one of `venv`, `command` and `url`.
"""  # noqa: E501 - as above


def page() -> str:
    """Returns the whole page as Markdown."""
    return "\n".join([INTRODUCTION, *_sections(), *_engines()])


def _sections() -> Iterator[str]:
    for section, field in Settings.model_fields.items():
        if section == ENGINES:
            continue
        assert field.annotation is not None
        mine = [setting for setting in SETTINGS.values() if setting.section == section]
        yield f"## {section}\n\n{field.annotation.__doc__}\n\n{_table(mine)}\n"


def _engines() -> Iterator[str]:
    yield ENGINES_CHAPTER
    yield _table(ENGINE_SETTINGS.values()) + "\n"
    yield ENTRY_CHAPTER
    rest = {
        name: field
        for name, field in EngineEntry.model_fields.items()
        if field.alias not in ENGINE_SETTINGS
    }
    rows = [f"| `{field.alias}` | {_line(field.description)} |" for field in rest.values()]
    yield "\n".join(["| key | meaning |", "|---|---|", *rows, ""])


def _table(settings: Iterable[Setting]) -> str:
    rows = [
        f"| `{one.name}` | {_allowed(one)} | {_default(one)} | {one.applies} | {_about(one)} |"
        for one in settings
    ]
    head = ["| key | allowed | default | applies | meaning |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _about(setting: Setting) -> str:
    alone = [mark.value for mark in setting.field.metadata if isinstance(mark, FileOnly)]
    only = "".join(f" {value} may only stand in the file." for value in alone)
    return _line(setting.field.description) + only


def _line(description: str | None) -> str:
    assert description, "a setting without a docstring"
    return " ".join(description.split())


def _default(setting: Setting) -> str:
    if setting.key in FOLDER_DEFAULTS:
        return FOLDER_DEFAULTS[setting.key]
    value = setting.field.default
    assert value is not PydanticUndefined
    if value is None:
        return "none"
    written = setting.written(value)
    return f"`{json.dumps(written)}`"


def _allowed(setting: Setting) -> str:
    return " ".join(filter(None, (_kind(setting.field.annotation), _range(setting.field))))


def _kind(annotation: object) -> str:
    """Returns what a value is, in words."""
    while get_origin(annotation) in {Annotated, Union}:
        annotation = get_args(annotation)[0]  # whose other members say None, or check
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{word}`" for word in get_args(annotation))
    return KINDS.get(annotation, "list of origins")


def _range(field: FieldInfo) -> str:
    marks = [*field.metadata, *_marks_within(field.annotation)]
    above = next((f"above {mark.gt}" for mark in marks if isinstance(mark, Gt)), "")
    lowest = next((str(mark.ge) for mark in marks if isinstance(mark, Ge)), "")
    highest = next((mark.le for mark in marks if isinstance(mark, Le)), None)
    if highest is None or highest in UNTOLD_LIMITS:
        return above or (f"from {lowest}" if lowest else "")
    return f"{above or lowest} to {highest}"


def _marks_within(annotation: object) -> Iterator[object]:
    for part in get_args(annotation):
        for mark in getattr(part, "__metadata__", ()):
            yield from getattr(mark, "metadata", [mark])


if __name__ == "__main__":
    PAGE_FILE.write_text(page(), encoding="utf-8")
