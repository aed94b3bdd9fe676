"""What the catalog holds of each engine (section 10, "The catalog")."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "10.catalog.every-engine",
        "The catalog has a record of every engine of the project, and of no other.",
    ),
    Rule(
        "10.catalog.licences",
        "Both licences and their notes are word for word what the engine says in its capabilities.",
    ),
    Rule(
        "10.catalog.default-variant",
        "`defaultVariant` is the first variant of the engine.",
    ),
)
