"""What schemathesis is told about our API: loaded by `SCHEMATHESIS_HOOKS` in its own process.

It makes requests from the document. Every second one is given values that are there, so that what
lies behind the first refusal is reached; all are kept from what would install an engine or never
end.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

SEEN: Final = Path(os.environ["RHAPSODE_TEST_SEEN"])
"""Where a line is added for each answer: the operation and the status."""

ENGINE: Final = "tone"

NOBODY: Final = "nobody"

_INSTALLS: Final = frozenset({"installEngine", "reinstallEngine"})

_RECIPES: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "speak": (
        {"engine": ENGINE, "text": "Hello there."},
        {
            "engine": ENGINE,
            "text": "Bonjour.",
            "variant": "polyglot",
            "language": "fr",
            "delivery": "hushed",
        },
        {
            "engine": ENGINE,
            "text": "[laugh] One. [sigh]",
            "variant": "dialled",
            "params": {"speed": 1.5},
        },
        {"engine": ENGINE, "text": "7", "voice": "a5", "variant": "brief"},
        {
            "engine": ENGINE,
            "text": "Ünïcödé 你好。",
            "voice": "made",
            "variant": "stereo",
            "format": "flac",
        },
        {"engine": ENGINE, "text": "One, two, three. " * 9, "format": "pcm", "stream": True},
        {"engine": ENGINE, "text": "One, two, three. " * 9, "variant": "brief"},
        {"engine": ENGINE, "text": "Mm.", "format": "mp3", "stream": True, "keepAliveSeconds": 0},
        {"engine": ENGINE, "text": "Mm.", "format": "opus", "seed": "7"},
    ),
    "speakDialogue": (
        {"turns": [{"speaker": "a", "text": "Is anybody there?"}]},
        {
            "turns": [{"speaker": "a", "text": "Hello."}, {"speaker": "b", "text": "[laugh] Hi."}],
            "voices": {"a": "a4"},
        },
        {"turns": [{"speaker": name, "text": "I am here."} for name in "abcde"]},
    ),
    "createVoice": (
        {"id": "made", "label": "Made", "blend": "a4(2)+a5(1)"},
        {"id": "made", "label": "Made", "blend": "a4+nobody"},
        {"id": "a4", "label": "Replaced", "blend": "c5"},
    ),
    "changeSettings": (
        {"residency": {"keepAliveSeconds": 30}},
        {"residency": {"keepAliveSeconds": None, "maxResidentModels": "2"}},
        {"engines": {ENGINE: {"keepAliveSeconds": 5}}, "update": {"check": False}},
        {"engines": {NOBODY: {"keepAliveSeconds": 5}}},
    ),
    "pullWeights": ({"variant": "plain"},),
}
"""Bodies that mean something to the engine, by the operation."""

_JOBS: Final[list[str]] = []
"""Jobs that there are."""

_PATHS: Final = {"engine": (ENGINE,), "voice": ("a4", "a5", "made"), "job": _JOBS}
"""What there is, by the name of the parameter."""

_TURNS: Final[dict[str, Iterator[int]]] = defaultdict(count)
"""How often each operation was asked in earnest."""

Hook = TypeVar("Hook", bound=Callable[..., object])


def _hook(function: Hook) -> Hook:
    """Has schemathesis call a function at the point that its name says."""
    schemathesis.hook(function)  # pyright: ignore[reportUnknownMemberType] - its types end here
    return function


@_hook
def before_call(_: HookContext, case: Case[Any], __: dict[str, Any]) -> None:
    """Makes sense of every second request, and keeps all from what runs for long or for ever."""
    name = _name(case)
    _make_sense(case, name)
    if name in _INSTALLS:
        case.path_parameters["engine"] = NOBODY
    elif name == "watchJob":
        case.path_parameters["job"] = NOBODY


def _make_sense(case: Case[Any], name: str) -> None:
    recipes = _RECIPES.get(name, ())
    has_method = case.method.upper() == case.operation.method.upper()
    if not has_method or (recipes and not isinstance(case.body, dict)):
        return
    turn, is_left = divmod(next(_TURNS[name]), 2)
    if is_left:
        return
    for parameter, there in _PATHS.items():
        if parameter in case.path_parameters and there:
            case.path_parameters[parameter] = there[turn % len(there)]
    if recipes:
        case.body = recipes[turn % len(recipes)]


def _name(case: Case[Any]) -> str:
    return case.operation.definition.raw["operationId"]


@_hook
def after_call(_: HookContext, case: Case[Any], response: Response) -> None:
    """Writes down what was answered, and remembers the job that it began."""
    with SEEN.open("a", encoding="utf-8") as seen:
        seen.write(f"{_name(case)} {response.status_code}\n")
    if response.status_code == HTTPStatus.ACCEPTED and _name(case) == "pullWeights":
        _JOBS.append(response.json()["id"])


@schemathesis.check
def error_codes(_: CheckContext, response: Response, case: Case[Any]) -> None:
    """Holds the code of an error against those that the document lists for its status."""
    if response.status_code < 400:
        return
    code = response.json()["error"]["code"]
    # A path of other parts than it was made for is one that nobody serves.
    listed = {"bad_request"} if response.status_code in (404, 405) else set[str]()
    listed.update(_listed(case, str(response.status_code)))
    assert code in listed, f"{code} is not among {sorted(listed)}"


def _listed(case: Case[Any], status: str) -> Iterable[str]:
    answer = case.operation.definition.raw["responses"].get(status, {})
    if "$ref" in answer:
        name = answer["$ref"].rpartition("/")[2]
        answer = case.operation.schema.raw_schema["components"]["responses"][name]
    return answer.get("x-error-codes", ())
