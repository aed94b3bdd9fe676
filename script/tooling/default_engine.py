"""The default engine on a running server: installed by it, and anew when its sources change."""

import json
import time
import urllib.error
import urllib.request
from typing import Any

from commands import CommandFailed, run_quietly, say
from environment import ingredients
from environments import HIBARI, SERVER
from shared_home import HOME

ENGINE = "hibari"
_MADE_FROM = HOME / "engine.made-from.json"
_LOOK_SECONDS = 0.2


def ensure_installed(url: str) -> None:
    """Sees to it that a server has the engine as this checkout has it.

    Raises:
        CommandFailed: It could not be installed.
    """
    wanted = ingredients(HIBARI)
    installed = _entry(url)["installed"]
    if installed == "yes" and _made_from() == wanted:
        return
    say(f"  installing {ENGINE} …")
    if installed == "no":
        command = [SERVER.program("rhapsode"), "install", ENGINE, "--yes", "--url", url]
        run_quietly(f"installing {ENGINE}", command)
    else:
        _reinstall(url)
    _MADE_FROM.write_text(json.dumps(wanted), encoding="utf-8")


def _reinstall(url: str) -> None:
    """Has the engine built anew from sources that have changed, or waits for a job of it."""
    try:
        job = _ask("POST", f"{url}/engines/{ENGINE}/reinstall")
        while job["state"] in {"queued", "running"}:
            time.sleep(_LOOK_SECONDS)
            job = _ask("GET", f"{url}/installs/{job['id']}")
    except urllib.error.URLError as error:
        raise CommandFailed(f"installing {ENGINE} failed: {_reason(error)}") from None
    if job["state"] == "failed":
        raise CommandFailed(f"installing {ENGINE} failed: {job['error']['message']}")


def _entry(url: str) -> dict[str, Any]:
    try:
        found = [entry for entry in _ask("GET", f"{url}/catalog") if entry["id"] == ENGINE]
    except urllib.error.URLError as error:
        raise CommandFailed(f"the server does not say what it has: {_reason(error)}") from None
    return found[0]


def _ask(method: str, url: str) -> Any:
    request = urllib.request.Request(url, method=method)
    # A proxy of the environment cannot reach this machine's own loopback.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        return json.load(answer)


def _reason(error: urllib.error.URLError) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return error.read().decode("utf-8", "replace")
    return str(error.reason)


def _made_from() -> dict[str, str]:
    try:
        return json.loads(_MADE_FROM.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
