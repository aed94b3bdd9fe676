"""The catalog, against the packages and the adapters that it speaks of."""

import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from pydantic import ValidationError
from rhapsode.installs.catalog import CatalogRecord, load_catalog, read_catalog
from rhapsode.installs.sources import find_sources
from rhapsode_contract import License, is_engine_id
from rhapsode_worker import Engine

PACKAGES = Path(__file__).parents[3]
RECORDS = load_catalog()
HERE = [record for record in RECORDS.values() if find_spec(record.module) is not None]
"""Those whose adapter can be asked in this environment; engines with pins of their own cannot."""

each = pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS.keys())
each_here = pytest.mark.parametrize("record", HERE, ids=[record.id for record in HERE])


def project(record: CatalogRecord) -> dict[str, Any]:
    """Returns what a package says of itself."""
    text = (PACKAGES / record.package / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]


def adapter(record: CatalogRecord) -> Engine:
    """Returns an engine's adapter."""
    module = import_module(f"{record.module}.engine")
    classes = [found for found in vars(module).values() if isinstance(found, type)]
    engines = [found for found in classes if issubclass(found, Engine) and found is not Engine]
    return next(found() for found in engines if found.id == record.id)


@pytest.mark.contract("10.catalog.every-engine")
def test_there_is_a_record_for_every_engine_of_the_project_and_no_other() -> None:
    folders = {path.name for path in PACKAGES.glob("rhapsode-engine-*")}
    assert {record.package for record in RECORDS.values()} == folders


def test_the_records_are_in_the_order_of_their_ids() -> None:
    assert [*RECORDS] == sorted(RECORDS)
    assert all(record.id == id and is_engine_id(id) for id, record in RECORDS.items())


@each
def test_a_record_names_the_package_and_its_range_of_python(record: CatalogRecord) -> None:
    said = project(record)
    assert said["name"] == record.package
    assert SpecifierSet(said["requires-python"]) == SpecifierSet(record.python)
    assert (PACKAGES / record.package / "src" / record.module / "__main__.py").is_file()


@pytest.mark.contract("10.catalog.licences", "4.license.catalog")
@each_here
def test_both_licences_are_what_the_adapter_says(record: CatalogRecord) -> None:
    assert record.license == License(**adapter(record).license)


@pytest.mark.contract("10.catalog.default-variant")
@each_here
def test_names_variants_and_devices_are_the_adapters(record: CatalogRecord) -> None:
    engine = adapter(record)
    assert record.display_name == engine.display_name
    assert record.variants == tuple(engine.variants())
    assert record.default_variant == next(iter(engine.variants()))
    assert set(record.devices) == set(engine.device_types)


@pytest.mark.parametrize("id", ["kokoro", "kokoro-espeak"])
def test_the_bytes_of_weights_are_those_that_a_fetch_brings(id: str) -> None:
    release = import_module("rhapsode_engine_kokoro.release").RELEASE
    sizes = {
        variant: sum(file.size_bytes for file in release.files_of(variant))
        for variant in release.graphs
    }
    assert RECORDS[id].weights_bytes == sizes


@each
def test_sizes_are_of_variants_that_exist(record: CatalogRecord) -> None:
    assert record.weights_bytes.keys() <= set(record.variants)
    assert record.download_bytes > 0


@each
def test_an_engines_lock_covers_all_that_it_needs_from_elsewhere(record: CatalogRecord) -> None:
    sources = find_sources(record.package, PACKAGES)
    assert sources is not None
    assert sources.lock is not None
    text = sources.lock.read_text(encoding="utf-8")
    pinned = {line.partition("==")[0] for line in text.splitlines() if "==" in line}
    for folder in sources.folders:
        asked = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        for need in asked["project"]["dependencies"]:
            name = Requirement(need).name
            assert name in pinned or name in sources.packages, f"{folder.name} needs {need}"


def test_a_range_that_is_the_sdks_is_no_narrower() -> None:
    assert not RECORDS["tone"].is_python_narrower
    sdk = tomllib.loads((PACKAGES / "rhapsode-worker" / "pyproject.toml").read_text("utf-8"))
    assert sdk["project"]["requires-python"] == RECORDS["tone"].python


def test_a_record_with_a_key_that_no_record_has_is_refused() -> None:
    with pytest.raises(ValidationError, match="licence"):
        read_catalog('[tone]\nlicence = "MIT"\n')
