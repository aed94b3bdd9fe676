"""The state database (section 10, "The state database")."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "10.state.place",
        "What the server is told is kept in `rhapsode.db`: beside the config file, or in the "
        "user's config folder where there is none.",
    ),
    Rule(
        "10.state.kept",
        "Engines that were installed and settings that were written are there after a restart.",
    ),
    Rule(
        "10.state.file-untouched",
        "The server never writes the config file.",
    ),
    Rule(
        "10.state.journal",
        "The database has a journal only while it is written, so that a copy of the file, made "
        "while the server runs, is the whole of it.",
    ),
    Rule(
        "10.state.boot",
        "The database is written to once at the start; one that can't be, that is damaged or that "
        "is not ours fails the start with one line that names its path.",
    ),
    Rule(
        "10.state.one-core",
        "A second server on the same database ends at once with one line and an exit status that "
        "is not zero.",
    ),
    Rule(
        "10.state.private",
        "Nobody but its owner may read the database, which holds the token; a token that was "
        "replaced is not left in it.",
    ),
    Rule(
        "10.state.former",
        "A `rhapsode.engines.json` beside the database is taken in, all of it or nothing, and "
        "renamed `rhapsode.engines.json.imported`.",
    ),
    Rule(
        "10.state.uninstall-settings",
        "An engine that is removed from the database takes its own settings with it.",
    ),
    Rule(
        "10.state.survives-kill",
        "A server that is killed at any moment leaves a sound database with every change that was "
        "answered; of one that was not, all or nothing.",
    ),
)
