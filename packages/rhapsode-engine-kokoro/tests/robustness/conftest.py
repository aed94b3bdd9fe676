"""Where the weights of these tests come from."""

from collections.abc import Iterator

import pytest

from .depot import Depot, serving


@pytest.fixture
def depot() -> Iterator[Depot]:
    """A server with nothing on it yet."""
    with serving() as depot:
        yield depot
