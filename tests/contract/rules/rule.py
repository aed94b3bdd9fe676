"""One rule of the contract, as an entry of the manifest."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A promise that Rhapsode makes to its clients or to its engines' authors."""

    id: str
    """Names the rule for ever: `<section>.<subject>.<point>`, `6.floor.streamed`."""

    text: str
    """The rule in a sentence, at most 300 characters; goes into `docs/protocol.md` as it is."""

    is_worker_rule: bool = False
    """Whether a worker alone can show it, or its own half of it: then it is also the conformance
    check of that name, and every conformance check is such a rule."""

    awaits: str = ""
    """The part of Rhapsode that brings this rule, where that part is not built yet.

    A rule that awaits something is open. Whoever builds the part empties this field.
    """

    @property
    def section(self) -> str:
        """The section's key: a contract section's number, or `d` for a decision of the design."""
        return self.id.partition(".")[0]
