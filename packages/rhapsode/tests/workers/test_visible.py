"""Which card a worker means by its number."""

import pytest
from rhapsode.workers.nvidia import CardUnreadable, NvidiaCard
from rhapsode.workers.visible import uuid_of

CARDS = [NvidiaCard("GPU-aa11-0"), NvidiaCard("GPU-aa22-1"), NvidiaCard("GPU-bb33-2")]
BY_ADDRESS = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
A, B, C = (card.uuid for card in CARDS)


def meant(ordinal: int, visible: str | None = None, order: str | None = "PCI_BUS_ID") -> str:
    variables = {"CUDA_VISIBLE_DEVICES": visible, "CUDA_DEVICE_ORDER": order}
    present = {name: text for name, text in variables.items() if text is not None}
    return uuid_of(ordinal, CARDS, present)


@pytest.mark.parametrize(
    ("ordinal", "visible", "uuid"),
    [
        (0, None, A),
        (2, None, C),
        (0, "1", B),
        (0, "2,1", C),
        (1, "2,1", B),
        (1, " 0 , 2 ", C),
        (1, "0,2,-1,1", C),
        (0, C, C),
        (0, "GPU-b", C),
        (1, "GPU-bb,GPU-aa2", B),
        (1, f"0,{C}", C),
        (0, "MIG-GPU-aa11-0/1/2", "MIG-GPU-aa11-0/1/2"),
        (0, "MIG-41ff", "MIG-41ff"),
    ],
)
def test_cards_that_are_left_out_are_not_counted(
    ordinal: int, visible: str | None, uuid: str
) -> None:
    assert meant(ordinal, visible) == uuid


@pytest.mark.parametrize(
    ("ordinal", "visible"),
    [
        (3, None),
        (0, ""),
        (1, "0"),
        (2, "0,2,-1,1"),
        (0, "3"),
        (0, "GPU-aa"),
        (0, "GPU-"),
        (0, "GPU-cc"),
        (0, "NoDevFiles"),
        (0, "1st"),
        (0, "aa11"),
        (0, "²"),
        (1, "x,1"),
    ],
)
def test_a_card_that_no_worker_can_see_is_no_card(ordinal: int, visible: str | None) -> None:
    with pytest.raises(CardUnreadable):
        meant(ordinal, visible)


@pytest.mark.parametrize("order", [None, "FASTEST_FIRST", ""])
def test_a_number_says_nothing_where_cuda_puts_the_fastest_card_first(order: str | None) -> None:
    for visible in (None, "0", f"{A},0"):
        with pytest.raises(CardUnreadable, match="PCI_BUS_ID"):
            meant(1 if visible == f"{A},0" else 0, visible, order)
    assert meant(0, "GPU-bb", order) == C
    assert uuid_of(0, CARDS[:1], {}) == A


@pytest.mark.parametrize("visible", ["", "G", " "])
def test_the_only_card_is_not_meant_by_what_means_none(visible: str) -> None:
    with pytest.raises(CardUnreadable):
        uuid_of(0, CARDS[:1], {"CUDA_VISIBLE_DEVICES": visible})


def test_a_number_says_nothing_where_a_card_is_divided() -> None:
    cards = [CARDS[0], NvidiaCard(B, is_split=True)]
    with pytest.raises(CardUnreadable, match="MIG"):
        uuid_of(0, cards, BY_ADDRESS)
    assert uuid_of(0, cards, {"CUDA_VISIBLE_DEVICES": "GPU-aa11"}) == A
