"""What the sources of the voices have is the same: numbers that come one way or the other."""

import hashlib

import pytest
from rhapsode_worker.weights import BuiltFile

from .stock import VOICES, archive


@pytest.mark.slow
def test_the_archive_of_the_release_page_holds_the_voices_that_npm_has() -> None:
    """Their file came through npm here. Packed by numpy it has the size and the hash that the
    page's archive is known by, so all 54 are the same to the bit."""
    built = VOICES.sources[0]
    assert isinstance(built, BuiltFile)
    (declared,) = built.ingredients
    packed = archive()
    assert len(packed) == declared.size_bytes
    assert hashlib.sha256(packed).hexdigest() == declared.sha256
