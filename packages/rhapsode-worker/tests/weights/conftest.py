"""The web server of these tests."""

from collections.abc import Iterator

import pytest

from .site import Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    """A server with nothing on it yet."""
    with serving() as site:
        yield site
