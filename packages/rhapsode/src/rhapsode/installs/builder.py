"""Builds an engine's virtualenv: the steps `venv`, `packages` and `verify` (contract § 10)."""

import errno
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio
from rhapsode_contract import Internal, ModelUnavailable

from rhapsode.installs.catalog import CatalogRecord
from rhapsode.installs.command import Command, run
from rhapsode.installs.environment import install_environment, trusted_hosts, verify_environment
from rhapsode.installs.interpreters import ask_version, find_interpreter, is_inside, written_out
from rhapsode.installs.report import Report
from rhapsode.installs.sources import Sources, find_sources
from rhapsode.installs.tools import Uv, VenvAndPip, find_uv, python_of
from rhapsode.installs.venv_folder import remove_venv
from rhapsode.settings.model import InstallSettings

_VERIFY_SECONDS: Final = 600.0
"""An import of a large library from a cold disk takes minutes; one that serves takes for ever."""

_IMPORT: Final = "import importlib, sys; importlib.import_module(sys.argv[1])"

_MAY_PASS: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class Builder:
    """Makes virtualenvs as the settings say. Keeps nothing from one to the next."""

    def __init__(
        self,
        install: InstallSettings,
        environ: Mapping[str, str],
        version: str,
        *,
        programs: Path | None = None,
    ) -> None:
        """Args:
        install: Where things lie, and the interpreter.
        environ: The core's own environment.
        version: The core's own; a package from the index is pinned to it.
        programs: Where the core's own programs lie, uv perhaps among them; None for where its
            interpreter does.
        """
        self._install = install
        self._environ = environ
        self._environment = install_environment(environ)
        self._version = version
        hosts = trusted_hosts(environ)
        uv = find_uv(environ, programs or Path(sys.executable).parent)
        self._tool = VenvAndPip(hosts) if uv is None else Uv(uv, hosts)

    async def build(self, record: CatalogRecord, slot: Path, report: Report) -> None:
        """Builds a virtualenv in which the engine's module can be imported.

        Nothing is left running, whatever comes. The slot may then hold remains, which the next
        build there removes.

        Args:
            record: The engine.
            slot: A direct child of `install.venvDir`; what lies there is removed first.
            report: Told of each step, and of each line that is printed.

        Raises:
            ModelUnavailable: It failed for a reason that may pass, such as no network.
            Internal: It failed. Either names the command and quotes the line that says why.
        """
        try:
            report.step("venv")
            await self._make_venv(record, slot, report)
            report.step("packages")
            await self._install_packages(record, slot, report)
            report.step("verify")
            await self._verify(record, slot, report)
        except OSError as error:
            kind = ModelUnavailable if error.errno in _MAY_PASS else Internal
            raise kind(f"{record.display_name} was not built in {slot}: {error}") from error

    async def _make_venv(self, record: CatalogRecord, slot: Path, report: Report) -> None:
        folder = self._install.venv_dir
        await anyio.Path(folder).mkdir(parents=True, exist_ok=True)
        await remove_venv(folder, slot)
        python = await self._interpreter(record)
        await self._run(self._tool.create(python, slot), folder, report, self._finding())
        made = await ask_version(str(python_of(slot)), self._environment, slot)
        self._check_version(record, made)
        report.line(f"Python {made} in {slot}")

    async def _interpreter(self, record: CatalogRecord) -> str:
        """Returns what the tool is given as the interpreter."""
        configured = self._install.python
        if isinstance(self._tool, Uv):
            return record.python if record.is_python_narrower else written_out(configured)
        found = find_interpreter(configured, self._environment.get("PATH"))
        if found is None:
            raise Internal(
                f"install.python is {configured}, and there is no such interpreter on the PATH;"
                f" {record.display_name} needs Python {record.python}"
            )
        # Asked first: pip does not fail on an interpreter outside the range, but takes the newest
        # release of each library that still claims to run on it.
        said = await ask_version(found, self._environment, self._install.venv_dir)
        self._check_version(record, said)
        return found

    def _finding(self) -> dict[str, str]:
        """Returns the variables that a virtualenv is made under: the configured interpreter comes
        first on the path, so that uv, which looks for one in a range, need not fetch another.
        """
        path = self._environment.get("PATH", "")
        found = find_interpreter(self._install.python, path)
        # Of a virtualenv's interpreter, which uv passes over, the one that it was made from.
        folders = [] if found is None else [os.path.dirname(os.path.realpath(found))]
        return {**self._environment, "PATH": os.pathsep.join([*folders, path])}

    def _check_version(self, record: CatalogRecord, version: str) -> None:
        if not is_inside(version, record.python):
            raise Internal(
                f"{record.display_name} needs Python {record.python}, and install.python,"
                f" {self._install.python}, is Python {version}"
            )

    async def _install_packages(self, record: CatalogRecord, slot: Path, report: Report) -> None:
        sources = find_sources(record.package, self._install.source_dir)
        if sources is not None:
            await self._install_sources(sources, slot, report)
        elif record.is_published:
            # Pinned: the newest may be made for a core that this box does not have.
            await self._pip(slot, (f"{record.package}=={self._version}",), report)
        else:
            where = self._install.source_dir
            place = "install.sourceDir is not set" if where is None else f"it is not in {where}"
            raise Internal(
                f"{record.package} is not published in the package index, where its name could be"
                f" anybody's, and {place}"
            )

    async def _install_sources(self, sources: Sources, slot: Path, report: Report) -> None:
        folders = (*self._tool.refresh(sources.packages), *map(str, sources.folders))
        if sources.lock is None:
            await self._pip(slot, folders, report)
            return
        # In two steps, since pip takes no folder while it checks hashes.
        await self._pip(slot, ("--require-hashes", "-r", str(sources.lock)), report)
        await self._pip(slot, ("--no-deps", *self._tool.build_lock(slot), *folders), report)

    async def _verify(self, record: CatalogRecord, slot: Path, report: Report) -> None:
        # `-P`: nothing may be found because it lies in the folder that this runs in.
        words = (str(python_of(slot)), "-P", "-c", _IMPORT, f"{record.module}.__main__")
        command = Command(words, verify_environment(self._environ, slot), slot)
        try:
            with anyio.fail_after(_VERIFY_SECONDS):
                await run(command, report)
        except TimeoutError:
            raise Internal(f"`{command}` did not end within {_VERIFY_SECONDS:g} s") from None

    async def _pip(self, slot: Path, arguments: tuple[str, ...], report: Report) -> None:
        await self._run(self._tool.install(slot, arguments), slot, report)

    async def _run(
        self,
        words: tuple[str, ...],
        cwd: Path,
        report: Report,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        command = Command(words, environment or self._environment, cwd)
        report.line(f"$ {command}")
        await run(command, report)
