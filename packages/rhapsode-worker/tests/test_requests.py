"""Names of dials, as the wire and as Python spell them."""

import pytest
from rhapsode_worker.requests import snake_case


@pytest.mark.parametrize(
    ("camel", "snake"),
    [
        ("speed", "speed"),
        ("cfgWeight", "cfg_weight"),
        ("topP", "top_p"),
        ("top2Probabilities", "top2_probabilities"),
        ("repetitionPenaltyScale", "repetition_penalty_scale"),
        ("already_snake", "already_snake"),
        ("", ""),
    ],
)
def test_a_dial_is_an_argument_of_the_same_name_in_snake_case(camel: str, snake: str) -> None:
    assert snake_case(camel) == snake
