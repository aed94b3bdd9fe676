"""The rules that a worker shows and the promises that `rhapsode-conform` checks are the same."""

from rhapsode_conform import MANIFEST, UNSEEN

from .manifest import RULES


def test_a_rule_is_a_workers_where_and_only_where_conformance_knows_it() -> None:
    """A failure names rules to flag with `is_worker_rule`, and flagged ones that nobody checks."""
    flagged = {rule.id for rule in RULES if rule.is_worker_rule}
    known = set(MANIFEST) | set(UNSEEN)
    assert (sorted(known - flagged), sorted(flagged - known)) == ([], [])
