"""A box whose environment says nothing, and a certificate."""

import os
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Identity:
    """A certificate that nobody has signed but its owner."""

    certificate: Path
    context: ssl.SSLContext
    """For whoever shows it."""


def _identity(folder: Path) -> Identity:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        + ["-nodes", "-days", "2", "-subj", "/CN=site", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-keyout", os.fspath(key), "-out", os.fspath(certificate)],
        check=True,
        capture_output=True,
        timeout=30,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return Identity(certificate, context)


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    """Gives a certificate of 127.0.0.1, as new as the tests."""
    return _identity(tmp_path_factory.mktemp("identity"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    """Gives another."""
    return _identity(tmp_path_factory.mktemp("stranger"))


@pytest.fixture(autouse=True)
def _plain_environment(  # pyright: ignore[reportUnusedFunction] - pytest finds it
    monkeypatch: pytest.MonkeyPatch, identity: Identity
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    # One authority instead of a hundred: reading those takes longer than a test.
    monkeypatch.setenv("SSL_CERT_FILE", os.fspath(identity.certificate))
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
