"""A task beside a block: each ends the other, and errors keep their shape."""

import anyio
import pytest
from rhapsode_http import beside

pytestmark = pytest.mark.anyio


async def test_the_task_ends_with_the_block() -> None:
    ended = anyio.Event()

    async def task() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    with anyio.fail_after(5):
        async with beside(task):
            await anyio.lowlevel.checkpoint()
    assert ended.is_set()


async def test_an_error_of_the_block_comes_out_as_it_is() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with beside(anyio.sleep_forever):
            raise KeyError("mine")


async def test_an_error_of_the_task_ends_the_block_and_comes_out_as_a_group() -> None:
    async def task() -> None:
        raise KeyError("the task's")

    with anyio.fail_after(5), pytest.raises(BaseExceptionGroup) as caught:
        async with beside(task):
            await anyio.sleep_forever()
    assert isinstance(caught.value.exceptions[0], KeyError)


async def test_cancelling_the_scope_ends_both_without_an_error() -> None:
    with anyio.fail_after(5):
        async with beside(anyio.sleep_forever) as scope:
            scope.cancel()
            await anyio.sleep_forever()
