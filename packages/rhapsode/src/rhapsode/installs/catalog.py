"""The engines that exist, installed here or not (contract § 10, "The catalog").

The records are data, in `catalog.toml`, because the core may not import an engine to ask it; tests
hold them against what each engine's package and adapter say of themselves.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Final

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass
from rhapsode_contract import License

_FILE: Final = Path(__file__).with_name("catalog.toml")

_SDK_PYTHON: Final = ">=3.11"
"""What the worker SDK runs on."""

_Bytes = Annotated[int, Field(ge=0)]


@dataclass(
    frozen=True,
    config=ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid"),
)
class CatalogRecord:
    """What the core knows of an engine before it is installed."""

    id: str

    display_name: str

    license: License
    """As the adapter says it in its capabilities."""

    package: str
    """The distribution; its folder of `install.sourceDir` has the same name."""

    module: str
    """What the worker runs, as `python -m <module>`."""

    variants: tuple[str, ...]
    """What can be loaded, the default first; at least one."""

    devices: tuple[str, ...]
    """Types of devices that it computes on: `cuda`, `rocm`, `mps`, `cpu`."""

    download_bytes: _Bytes
    """Roughly what an install fetches from the package index, the weights left out."""

    python: str = _SDK_PYTHON
    """The versions of Python that it installs on, as a specifier set."""

    is_published: bool = False
    """Whether the package index has it. One that is not there is never asked for by name, which a
    stranger could own."""

    weights_bytes: Mapping[str, _Bytes] = field(default_factory=dict[str, int])
    """What fetching each variant downloads; a variant that is not in it fetches nothing."""

    @property
    def default_variant(self) -> str:
        """The variant that a request means which names none."""
        return self.variants[0]

    @property
    def is_python_narrower(self) -> bool:
        """Whether some interpreter that the SDK runs on is none for this engine."""
        return self.python != _SDK_PYTHON


def load_catalog() -> Mapping[str, CatalogRecord]:
    """Returns every engine's record by its id, in the order of ids."""
    return read_catalog(_FILE.read_text(encoding="utf-8"))


def read_catalog(text: str) -> Mapping[str, CatalogRecord]:
    """Returns the records of a catalog written in TOML, a table for each engine.

    Raises:
        tomllib.TOMLDecodeError: It is not TOML.
        pydantic.ValidationError: A record lacks something, or has what no record has.
    """
    tables = tomllib.loads(text)
    adapter = TypeAdapter(dict[str, CatalogRecord])
    return adapter.validate_python({id: {"id": id, **tables[id]} for id in sorted(tables)})
