"""Numbers keep their dots and are never too long to count."""

import pytest
from rhapsode_worker.reading.numerals import with_numerals_spoken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("192.168.1.1", "192 dot 168 dot 1 dot 1"),
        ("v1.2.3 and 3.11.2.", "v1 point 2 point 3 and 3 point 11 point 2."),
        ("24.12.2024", "2024-12-24"),
        ("4111111111111111", " ".join("4111111111111111")),
        ("10⁷ and 10⁻⁹", "10 to the power of 7 and 10 to the power of minus 9"),
        ("m², x²³", "m squared, x to the power of 23"),
        ("H₂O ①", "H2O  1 "),
        ("5*3", "5 times 3"),
        ("C# and F#.", "C sharp and F sharp."),
        ("He owes me -$5, and −€7.50.", "He owes me minus $5, and minus €7.50."),
        ("(-£3) or –¥200", "(minus £3) or minus ¥200"),
        ("$3.5bn, £2.5 tn and 5.5Bn years", "$3.5 billion, £2.5 trillion and 5.5 billion years"),
        ("a .5 mile, a .22 rifle", "a point 5 mile, a point 2 2 rifle"),
        ("6'2\" and 5’11”", "6 foot 2 and 5 foot 11"),
        ("50/50 odds, 24/7.", "fifty-fifty odds, twenty-four seven."),
    ],
)
def test_numbers_are_read_whole(text: str, said: str) -> None:
    assert with_numerals_spoken(text) == said


@pytest.mark.parametrize(
    "text",
    ["3.14", "1,250.75", "123456789012345", "#1", "½"]
    + ["from $3-$5", "3.5 bnx", "...5", "1/2", "24/7/2024", "the '90s and '20s", "-5 °C"],
)
def test_what_the_engine_reads_well_is_left_to_it(text: str) -> None:
    assert with_numerals_spoken(text) == text
