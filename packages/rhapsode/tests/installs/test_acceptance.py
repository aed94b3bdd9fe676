"""Who has to accept a weights licence, and how."""

import pytest
from rhapsode.installs.acceptance import accepted_licence, is_acceptance_due
from rhapsode_contract import BadRequest, License

FREE = License(code="MIT", weights="Apache-2.0", weights_commercial_use=True)
BOUND = License(code="MIT", weights="CC-BY-NC-4.0", weights_commercial_use=False)


@pytest.mark.contract("10.accept.commercial")
@pytest.mark.parametrize("accept", [None, "Apache-2.0"])
def test_commercial_weights_need_no_acceptance_and_none_is_recorded(accept: str | None) -> None:
    assert accepted_licence("tone", FREE, accept) is None


@pytest.mark.contract("10.accept.commercial")
@pytest.mark.parametrize("accept", ["MIT", "apache-2.0", "true", "Apache-2.0 "])
def test_what_is_accepted_has_to_be_the_licence_even_where_none_needs_it(accept: str) -> None:
    with pytest.raises(BadRequest, match=r"Apache-2\.0"):
        accepted_licence("tone", FREE, accept)


@pytest.mark.contract("10.accept.needed")
def test_weights_that_are_not_for_commercial_use_are_accepted_by_name() -> None:
    assert accepted_licence("tone", BOUND, "CC-BY-NC-4.0") == "CC-BY-NC-4.0"


@pytest.mark.contract("10.accept.needed")
@pytest.mark.parametrize("accept", [None, "MIT", "cc-by-nc-4.0", "true", "false", "CC-BY-NC"])
def test_a_refusal_names_the_licence_and_the_query_that_accepts_it(accept: str | None) -> None:
    with pytest.raises(BadRequest) as caught:
        accepted_licence("tone", BOUND, accept)
    assert "CC-BY-NC-4.0" in caught.value.message
    assert "?accept=CC-BY-NC-4.0" in caught.value.message


def test_the_query_that_accepts_is_written_so_that_it_can_be_sent() -> None:
    odd = License(code="MIT", weights="GPL-2.0+ & more", weights_commercial_use=False)
    with pytest.raises(BadRequest, match=r"\?accept=GPL-2\.0%2B%20%26%20more"):
        accepted_licence("tone", odd, None)


@pytest.mark.contract("10.reinstall.accept")
@pytest.mark.parametrize(
    ("licence", "recorded", "is_due"),
    [
        (FREE, None, False),
        (FREE, "CC-BY-NC-4.0", False),
        (BOUND, "CC-BY-NC-4.0", False),
        (BOUND, None, True),
        (BOUND, "CC-BY-NC-3.0", True),
    ],
)
def test_a_recorded_acceptance_covers_the_same_licence_and_no_other(
    licence: License, recorded: str | None, is_due: bool
) -> None:
    assert is_acceptance_due(licence, recorded) is is_due
    if is_due:
        with pytest.raises(BadRequest):
            accepted_licence("tone", licence, None, recorded)
    else:
        accepted = accepted_licence("tone", licence, None, recorded)
        assert accepted == (None if licence is FREE else recorded)


@pytest.mark.contract("10.reinstall.accept")
def test_an_acceptance_that_is_sent_is_checked_whatever_is_recorded() -> None:
    with pytest.raises(BadRequest):
        accepted_licence("tone", BOUND, "MIT", "CC-BY-NC-4.0")
