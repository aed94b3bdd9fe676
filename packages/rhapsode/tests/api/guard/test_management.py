"""Which requests are for management routes."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import pytest
import rhapsode.api
from hypothesis import given
from hypothesis import strategies as st
from rhapsode.api.guard.management import MANAGEMENT, OPEN, is_management
from rhapsode_http.path import decoded_path
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

OF_THE_CONTRACT: Final = """
    POST /engines/tone/install
    POST /engines/tone/reinstall
    POST /installs/outdated
    DELETE /engines/tone
    POST /engines/tone/pull
    POST /engines/tone/unload
    GET /installs
    GET /installs/job_1
    GET /installs/job_1/events
    GET /settings
    PATCH /settings
    POST /engines/tone/voices
    DELETE /engines/tone/voices/narrator_02
"""

OPEN_BY_CONTRACT: Final = """
    POST /speak
    POST /engines/tone/dialogue
    POST /v1/audio/speech
    POST /update/check
    GET /engines
    GET /engines/tone/capabilities
    GET /engines/tone/voices
    GET /engines/tone/voices/narrator_02/preview
    GET /health
    GET /metrics
    GET /residency
    GET /catalog
    GET /update
    GET /openapi.json
"""


def pairs(table: str) -> list[tuple[str, str]]:
    return [(method, path) for method, path in map(str.split, table.strip().splitlines())]


def built() -> Iterator[BaseRoute]:
    """Gives every route that a module of the public API has."""
    for module in pkgutil.walk_packages(rhapsode.api.__path__, "rhapsode.api."):
        yield from getattr(importlib.import_module(module.name), "routes", ())


@pytest.mark.contract("10.guard.routes")
@pytest.mark.parametrize(("method", "path"), pairs(OF_THE_CONTRACT))
def test_what_the_contract_guards_is_guarded(method: str, path: str) -> None:
    assert is_management(method, path)


@pytest.mark.contract("10.guard.open")
@pytest.mark.parametrize(("method", "path"), pairs(OPEN_BY_CONTRACT))
def test_what_the_contract_opens_is_open(method: str, path: str) -> None:
    assert not is_management(method, path)
    if method == "GET":
        assert not is_management("HEAD", path)


def test_the_tables_hold_what_the_contract_says_and_nothing_else() -> None:
    assert len(MANAGEMENT) == len(pairs(OF_THE_CONTRACT))
    assert len(OPEN) == len(pairs(OPEN_BY_CONTRACT))
    assert not set(MANAGEMENT) & set(OPEN)


@pytest.mark.contract("10.guard.routes")
@pytest.mark.parametrize(
    "path", sorted({path for method, path in pairs(OF_THE_CONTRACT) if method != "GET"})
)
def test_at_a_guarded_path_every_method_is_guarded_that_is_not_open(path: str) -> None:
    opened = {method for method, open_path in pairs(OPEN_BY_CONTRACT) if open_path == path}
    for method in METHODS:
        is_open = method in opened or (method == "HEAD" and "GET" in opened)
        assert is_management(method, path) is not is_open


def test_every_route_that_is_built_stands_in_one_of_the_tables() -> None:
    """A failure names routes to add to `MANAGEMENT` or `OPEN`: decide which, with the contract."""
    missing: list[str] = []
    for route in built():
        assert isinstance(route, Route), "tell the guard how requests reach it"
        path = route.path
        if route.methods is None:  # then it takes every method, and has to be guarded as a whole
            missing += [f"{method} {path}" for method in METHODS if not is_management(method, path)]
            continue
        missing += [
            f"{method} {path}"
            for method in route.methods
            if not is_management(method, path) and not _is_listed_open(method, path)
        ]
    assert missing == []


def _is_listed_open(method: str, path: str) -> bool:
    listed = "GET" if method == "HEAD" else method
    return (listed, path) in OPEN


# --- As the router has it -----------------------------------------------------------------------


async def _endpoint(_: Request) -> Response:
    return Response()


ROUTES: Final = [
    (Route(path, _endpoint, methods=[method]), (method, path) in MANAGEMENT)
    for method, path in (*MANAGEMENT, *OPEN)
]


def dispatched(method: str, path: str) -> bool | None:
    """Returns whether Starlette would give a request to a management route; None for to nobody."""
    scope = {"type": "http", "method": method, "path": path, "root_path": ""}
    for route, is_managed in ROUTES:
        if route.matches(scope)[0] is Match.FULL:
            return is_managed
    return None


PIECES: Final = st.sampled_from(
    [
        *"/.%\n\r\0;?# ",
        *["//", "..", "%2f", "%2F", "%0a", "%00", "\u2028", "\u212a", "é", "/./", "/../", "%25"],
        *["engines", "installs", "settings", "install", "voices", "outdated", "unload", "events"],
        *["ENGINES", "Install", "tone", "job", "preview", "speak", "dialogue"],
    ]
)


@st.composite
def mangled_paths(draw: st.DrawFn) -> str:
    """A path of the tables, with something put into it or taken out of it, or no such path."""
    _, path = draw(st.sampled_from([*pairs(OF_THE_CONTRACT), *pairs(OPEN_BY_CONTRACT)]))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(path)))
        until = draw(st.integers(at, min(len(path), at + 2)))
        path = path[:at] + draw(st.one_of(PIECES, st.text(max_size=2))) + path[until:]
    return path


@pytest.mark.contract("10.guard.as-routed")
@given(method=st.sampled_from(METHODS), path=mangled_paths())
def test_whatever_the_router_gives_to_a_management_route_is_guarded(method: str, path: str) -> None:
    if dispatched(method, path) is not None:
        assert is_management(method, path) is dispatched(method, path)


@pytest.mark.contract("10.guard.as-routed")
@given(method=st.sampled_from(METHODS), path=mangled_paths())
def test_so_it_is_from_the_bytes_of_the_request_line_on(method: str, path: str) -> None:
    for raw in (quote(path, safe="/%"), quote(path, safe="/"), quote(path, safe="")):
        seen = decoded_path(raw.encode())
        if dispatched(method, seen) is not None:
            assert is_management(method, seen) is dispatched(method, seen)


@pytest.mark.contract("10.guard.as-routed")
@pytest.mark.parametrize(
    "raw",
    [
        b"/settings%0A",
        b"/setting%73",
        b"/%73ettings",
        b"/installs%0a",
        b"/installs/%2F",
        b"/installs/a%2fb/events",
        b"/engines/%2e%2e/install",
        b"/engines/a%0Ab/unload",
        b"/engines/%00/pull%0A",
        b"/engines/voices/voices/..%2f..",
    ],
)
def test_paths_that_only_look_like_others_are_guarded(raw: bytes) -> None:
    assert is_management("POST", decoded_path(raw))


@pytest.mark.parametrize(
    "path",
    [
        "//settings",
        "/settings/",
        "/Settings",
        "/engines//install",
        "/engines/tone/install/",
        "/engines/tone/install/x",
        "/engines/../settings",
        "/settings\n\n",
        "settings",
        "",
    ],
)
def test_paths_that_no_route_takes_are_nobodys(path: str) -> None:
    assert not is_management("POST", path)
    assert dispatched("PATCH", path) is dispatched("POST", path) is None
