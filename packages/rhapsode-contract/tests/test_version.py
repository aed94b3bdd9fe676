"""Which contract two sides speak (contract § 9)."""

from itertools import combinations

import pytest
from rhapsode_contract import CONTRACT, SUPPORTED, ContractMismatch, answer_at, check_answer

OFFERS = range(-1, 7)
SUPPORTS = [set(some) for size in range(1, 6) for some in combinations(range(1, 6), size)]


@pytest.mark.parametrize("supported", SUPPORTS, ids=str)
def test_a_worker_answers_at_its_highest_that_is_not_above_the_offer(supported: set[int]) -> None:
    for offer in OFFERS:
        within = [contract for contract in range(offer + 1) if contract in supported]
        if within:
            assert answer_at(offer, supported) == within[-1]
        else:
            with pytest.raises(ContractMismatch) as mismatch:
                answer_at(offer, supported)
            assert f"contract {offer} " in str(mismatch.value)
            assert f"worker {min(supported)} " in str(mismatch.value)


@pytest.mark.parametrize("ours", range(1, 5))
@pytest.mark.parametrize("reported", range(5))
def test_a_core_refuses_a_worker_above_its_own_contract(reported: int, ours: int) -> None:
    if reported <= ours:
        check_answer(reported, ours)
        return
    with pytest.raises(ContractMismatch) as mismatch:
        check_answer(reported, ours)
    assert f"contract {reported}," in str(mismatch.value)
    assert f"core {ours} " in str(mismatch.value)


def test_whatever_a_worker_answers_its_core_accepts() -> None:
    for supported in SUPPORTS:
        for offer in range(min(supported), 7):
            check_answer(answer_at(offer, supported), offer)


def test_this_package_supports_the_contract_that_it_describes() -> None:
    assert max(SUPPORTED) == CONTRACT == answer_at(CONTRACT)
    check_answer(CONTRACT)
