"""What README.md and docs/ tell a reader to do works, and what they link to is there."""

import os
import re
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .author_page import blocks, working, write_programs
from .served import ROOT, hibari, serving

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

SERVER = "localhost:8080"
WORKER = "http://localhost:8090"


CURLS = [
    pytest.param(page, block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page, "sh"))
    if block.startswith("curl ") and page.name != "managing.md"  # that has a test of its own
]


@dataclass(frozen=True)
class Addresses:
    """Where the servers are that the pages have at fixed ports."""

    server: str
    worker: str


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Generator[Addresses]:
    folder = tmp_path_factory.mktemp("server")
    write_programs(folder)
    tone = f'[engines.tone]\nvenv = "{sys.prefix}"\n'
    buzz = f'[engines.buzz]\ncommand = ["{sys.executable}", "{folder / "buzz.py"}"]\n'
    engines = hibari() + tone + buzz
    with working(folder / "swarm.py") as worker, serving(folder, engines) as server:
        yield Addresses(server, worker)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "block"), CURLS)
def test_every_curl_example_works(
    addresses: Addresses, tmp_path: Path, page: Path, block: str
) -> None:
    # What a reader would see as a failure is to be one here: an HTTP error ends curl with 22.
    (tmp_path / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n", encoding="utf-8")
    here = addresses.server.removeprefix("http://")
    command = block.replace(SERVER, here).replace(WORKER, addresses.worker)
    done = subprocess.run(
        ["sh", "-e", "-c", command],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if wanted := re.search(r"-o (\S+)", block):
        written = tmp_path / wanted[1]
        said = ["ffmpeg", "-v", "error", "-i", written, "-f", "null", "-"]
        assert subprocess.run(said, check=True, capture_output=True).stderr == b""


def test_there_are_examples_to_run() -> None:
    assert len([curl for curl in CURLS if curl.values[0] == ROOT / "README.md"]) >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_scripts_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`(script/[a-z-]+|\.ci/[a-z-]+)[` ]", text))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
