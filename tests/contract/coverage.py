"""How the manifest and the marks of the tests differ."""

from collections.abc import Collection, Mapping, Sequence


def differences(
    rule_ids: Collection[str],
    open_ids: Collection[str],
    marked: Mapping[str, Sequence[str]],
) -> list[str]:
    """Return what has to change for manifest, open list and tests to agree, a line for each thing.

    Args:
        rule_ids: the id of every rule.
        open_ids: the ids in `open.txt`.
        marked: for each marked id, where it is marked.
    """
    stray = [
        f"mark of no rule: {id} ({', '.join(marked[id])})"
        for id in sorted(marked.keys() - set(rule_ids))
    ]
    unlisted = [
        f"no test, so add to open.txt: {id}"
        for id in sorted(set(rule_ids) - set(open_ids) - marked.keys())
    ]
    proved = [
        f"has a test, so remove from open.txt: {id} ({', '.join(marked[id])})"
        for id in sorted(set(open_ids) & marked.keys())
    ]
    return stray + unlisted + proved
