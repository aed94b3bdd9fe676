"""What `differences` reports, on small manifests."""

from .coverage import differences


def test_a_manifest_that_its_tests_match_has_no_differences() -> None:
    assert differences({"6.a", "6.b"}, {"6.b"}, {"6.a": ["tests/test_a.py:3"]}) == []


def test_a_mark_of_no_rule_is_reported_with_its_place() -> None:
    found = differences(set(), set(), {"6.gone": ["tests/test_a.py:3", "tests/test_b.py:9"]})
    assert found == ["mark of no rule: 6.gone (tests/test_a.py:3, tests/test_b.py:9)"]


def test_a_rule_without_a_test_is_to_be_opened() -> None:
    assert differences({"6.a"}, set(), {}) == ["no test, so add to open.txt: 6.a"]


def test_an_open_rule_with_a_test_is_to_be_closed() -> None:
    found = differences({"6.a"}, {"6.a"}, {"6.a": ["tests/test_a.py:3"]})
    assert found == ["has a test, so remove from open.txt: 6.a (tests/test_a.py:3)"]


def test_differences_come_sorted_within_their_kind() -> None:
    found = differences({"6.b", "6.a"}, set(), {})
    assert found == ["no test, so add to open.txt: 6.a", "no test, so add to open.txt: 6.b"]
