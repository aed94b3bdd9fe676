"""A box whose environment says nothing."""

import os
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _plain_environment(  # pyright: ignore[reportUnusedFunction] - pytest finds it
    monkeypatch: pytest.MonkeyPatch, identity: Any
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    # One authority instead of a hundred: reading those takes longer than a test.
    monkeypatch.setenv("SSL_CERT_FILE", str(identity.certificate))
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
