"""Blocks that a forked child does not leave."""

import os

import pytest
from rhapsode_worker.home_process import HomeProcess


@pytest.mark.parametrize(
    ("error", "status"), [(None, 0), (ValueError("x"), 1), (SystemExit(7), 7), (SystemExit("x"), 1)]
)
def test_a_child_ends_with_the_block_that_it_was_forked_in(
    error: BaseException | None, status: int
) -> None:
    home = HomeProcess()
    with home.kept():
        child = os.fork()
        if child == 0 and error is not None:
            raise error
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == status


def test_in_its_own_process_an_error_goes_on() -> None:
    with pytest.raises(ValueError, match="through"), HomeProcess().kept():
        raise ValueError("through")
