"""Which contract is spoken (contract § 9)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeGuard, cast

from rhapsode_contract import CONTRACT
from rhapsode_http import parse_address

from rhapsode_conform.answer import as_json_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.outcome import expect, failed
from rhapsode_conform.subject import Subject

_FAR_ABOVE: Final = CONTRACT + 98
_TOO_LOW: Final = 0


@dataclass(frozen=True)
class _Offered:
    contract: Any
    """In the handshake; None where there was none."""
    documented: Any
    """In the capabilities."""
    status: int | None
    words: str


async def _offered(subject: Subject, offer: int) -> _Offered:
    """Starts a worker that is offered a contract."""

    async def look() -> _Offered:
        async with subject.started(offer=offer) as worker:
            if not worker.handshake:
                return _Offered(None, None, worker.status, "\n".join(worker.log))
            wire = subject.wire_to(parse_address(str(worker.handshake.get("listen"))))
            try:
                document = (await wire.get("/capabilities")).object
            finally:
                await wire.aclose()
            contract = worker.handshake.get("contract")
            return _Offered(contract, document.get("contract"), None, "")

    return await subject.once(f"offered {offer}", look)


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _said_in(words: str) -> Iterator[object]:
    """Yields what stands in the fields of each line of a log, and a line that is none as it is."""
    for line in words.splitlines():
        fields = as_json_object(line)
        yield from _leaves(fields) if fields else (line,)


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for inner in cast("dict[str, object]", value).values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _leaves(inner)
    else:
        yield value


def _names(said: object, number: object) -> bool:
    """Whether it is a number, or has it among its words and not in a date, a time or another."""
    if isinstance(said, str):
        return re.search(rf"(?<![\d:.T-]){number}(?![\d:.-]?\d)", said) is not None
    return _is_number(said) and said == number


@check("9.answer.highest", Need.SPAWNED)
async def highest(subject: Subject) -> None:
    """Offered this tool's own contract, and far more than there is."""
    assert subject.worker is not None
    own: object = subject.worker.handshake.get("contract")
    if not _is_number(own) or not 1 <= own <= CONTRACT:
        seen = f"it answers {own!r}"
        raise failed(f"offered {CONTRACT} it answers at {CONTRACT} at most", seen)
    above = await _offered(subject, _FAR_ABOVE)
    most: object = above.contract
    if not _is_number(most) or not own <= most <= _FAR_ABOVE:
        seen = f"it answers {most!r}, and {own} to {CONTRACT}: {above.words[-200:]}"
        raise failed(f"offered {_FAR_ABOVE} it answers at its highest", seen)
    exact = own if most == CONTRACT else (await _offered(subject, most)).contract
    expect(exact == most, f"offered {most} it answers at {most}", f"it answers {exact!r}")


@check("9.answer.reported", Need.SPAWNED)
async def reported(subject: Subject) -> None:
    """The same in the handshake and in the document, whatever was offered."""
    assert subject.worker is not None
    pairs = [(subject.worker.handshake.get("contract"), subject.document.get("contract"))]
    above = await _offered(subject, _FAR_ABOVE)
    pairs.append((above.contract, above.documented))
    for handshake, document in pairs:
        seen = f"{handshake!r} and {document!r}"
        expect(handshake == document, "handshake and capabilities name the same contract", seen)


@check("9.refuse.too-low", Need.SPAWNED)
async def too_low(subject: Subject) -> None:
    """Offered less than it can speak."""
    assert subject.worker is not None
    seen = await _offered(subject, _TOO_LOW)
    expect(seen.contract is None, f"offered {_TOO_LOW}, it shakes no hands", seen)
    expect(seen.status not in {None, 0}, f"offered {_TOO_LOW}, it exits non-zero", seen)
    own = subject.worker.handshake.get("contract")
    for number in (_TOO_LOW, own):
        is_named = any(_names(said, number) for said in _said_in(seen.words))
        expect(is_named, f"its standard error names both numbers, {_TOO_LOW} and {own}", seen.words)
