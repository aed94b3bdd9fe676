"""The one line that a worker says once it is ready (contract §§ 2, 9)."""

from collections.abc import Mapping
from typing import cast

from pydantic_core import from_json
from rhapsode_contract import ContractMismatch, Handshake, Internal, check_answer
from rhapsode_http import Address, TcpAddress, parse_address


def looks_like_handshake(line: bytes) -> bool:
    """Whether a line of standard output is meant as one; anything else is noise."""
    try:
        value: object = from_json(line)  # which bounds the depth: noise may be of brackets only
    except ValueError:
        return False
    return isinstance(value, Mapping) and "ready" in cast("Mapping[object, object]", value)


def read_handshake(line: bytes, *, engine: str, listen: Address) -> Address:
    """Returns the address a worker says it listens on.

    Args:
        line: What it said.
        engine: Whom it was started as.
        listen: Where it was told to listen.

    Raises:
        Internal: It has not the shape, names another engine or address, or speaks a contract
            above ours; the message says which.
    """
    try:
        handshake = Handshake.model_validate_json(line)
    except ValueError:
        text = line.decode(errors="replace")[:200]
        raise Internal(f"the worker's handshake has not the shape of one: {text}") from None
    try:
        check_answer(handshake.contract)
        bound = parse_address(handshake.listen)
    except (ContractMismatch, ValueError) as error:
        raise Internal(f"the worker is refused: {error}") from None
    if handshake.engine != engine:
        raise Internal(f"the worker is the engine {handshake.engine!r}, {engine!r} was started")
    if not _is_where(bound, listen):
        raise Internal(f"the worker listens on {bound}, it was told {listen}")
    return bound


def _is_where(bound: Address, told: Address) -> bool:
    if isinstance(told, TcpAddress) and told.port == 0:
        return isinstance(bound, TcpAddress) and bound.host == told.host
    return bound == told
