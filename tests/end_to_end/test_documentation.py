"""What README.md and docs/ tell a reader to do works, and what they link to is there."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from .served import ROOT, hibari, serving

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
AUTHOR_PAGE = ROOT / "docs" / "writing-an-engine.md"

SERVER = "http://localhost:8080"
WORKER = "http://localhost:8090"


def blocks(page: Path, language: str) -> list[str]:
    """Returns the contents of a page's code blocks of one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


CURLS = [
    pytest.param(page, block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page, "sh"))
    if block.startswith("curl ")
]


@dataclass(frozen=True)
class Addresses:
    """Where the servers are that the pages have at fixed ports."""

    server: str
    worker: str


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Generator[Addresses]:
    folder = tmp_path_factory.mktemp("server")
    (example,) = blocks(AUTHOR_PAGE, "python")
    (folder / "buzz.py").write_text(example, encoding="utf-8")
    buzz = f'[engines.buzz]\ncommand = ["{sys.executable}", "{folder / "buzz.py"}"]\n'
    with working(folder / "buzz.py") as worker, serving(folder, hibari() + buzz) as server:
        yield Addresses(server, worker)


@contextmanager
def working(program: Path) -> Generator[str]:
    """Runs a worker by hand, as its page says; yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, program],
        env=os.environ | {"RHAPSODE_WORKER_LISTEN": f"tcp:127.0.0.1:{port}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        assert b'"ready":true' in process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@pytest.mark.slow
@pytest.mark.parametrize(("page", "block"), CURLS)
def test_every_curl_example_works(
    addresses: Addresses, tmp_path: Path, page: Path, block: str
) -> None:
    # What a reader would see as a failure is to be one here: an HTTP error ends curl with 22.
    (tmp_path / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n", encoding="utf-8")
    command = block.replace(SERVER, addresses.server).replace(WORKER, addresses.worker)
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


@pytest.mark.slow
def test_the_engine_of_the_page_conforms(tmp_path: Path) -> None:
    (example,) = blocks(AUTHOR_PAGE, "python")
    program = tmp_path / "buzz.py"
    program.write_text(example, encoding="utf-8")
    conform = Path(sys.executable).with_name("rhapsode-conform")
    done = subprocess.run(
        [conform, "--", sys.executable, program], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


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
