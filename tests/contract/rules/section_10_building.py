"""How an engine's virtualenv is made (section 10, "Installing", its first three steps)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "10.building.steps",
        "A virtualenv is made, the packages are installed into it, and the engine's module is "
        "imported in it, in this order; the job says which of `venv`, `packages` and `verify` it "
        "is at.",
    ),
    Rule(
        "10.building.remains",
        "What lies in the slot is removed first: the slot alone, nothing outside of "
        "`install.venvDir`, and no link is followed.",
    ),
    Rule(
        "10.building.owner",
        "A file in `install.venvDir` names the state database that it belongs to; a job of another "
        "database is `conflict` and removes nothing.",
    ),
    Rule(
        "10.building.range-uv",
        "The virtualenv is made by uv where there is one, on the path or beside the server's own "
        "programs; of an engine that needs a narrower range of Python than the SDK it is handed "
        "the range.",
    ),
    Rule(
        "10.building.range-venv",
        "Without uv the configured interpreter is asked for its version before anything is made; "
        "where it is out of the engine's range the job fails naming both.",
    ),
    Rule(
        "10.building.interpreter-setting",
        "`install.python` is a version, a name on the `PATH`, or a path.",
    ),
    Rule(
        "10.building.sources",
        "An engine whose folder lies in `install.sourceDir` is installed from there, whatever its "
        "version, and what it needs of the same folder, the SDK above all, in the same command.",
    ),
    Rule(
        "10.building.sources-unwritten",
        "Nothing is written to `install.sourceDir`.",
    ),
    Rule(
        "10.building.locked",
        "Where a folder has a `constraints.txt`, what it pins is installed first, each file held "
        "against its hash, and then the folders alone, built with what the server pins.",
    ),
    Rule(
        "10.building.pinned",
        "Any other published engine is installed by name, pinned to the server's own version.",
    ),
    Rule(
        "10.building.unpublished",
        "An engine that is not published is never asked for by name, which a stranger could own; "
        "the job fails saying so.",
    ),
    Rule(
        "10.building.verify",
        "`<module>.__main__` is imported by the new interpreter, under the variables that a worker "
        "gets but for those that make it serve; what cannot be imported fails the job.",
    ),
    Rule(
        "10.building.trusted-hosts",
        "`RHAPSODE_PIP_TRUSTED_HOSTS` in the server's own environment is told to uv and to pip; "
        "nothing else weakens the check of certificates.",
    ),
    Rule(
        "10.building.environment",
        "`PIP_*`, `UV_*`, proxies, certificates and what compilers read pass to uv and pip; "
        "variables of another Python, and those that install somewhere else, do not.",
    ),
    Rule(
        "10.building.lines",
        "What uv, pip and the interpreter print is told line by line while they run, without "
        "colours and progress bars, and no line is longer than 1,000 characters.",
    ),
    Rule(
        "10.building.message",
        "A failed step names the command and quotes the line of its output that says why, not the "
        "last one.",
    ),
    Rule(
        "10.building.cancelled",
        "A build that is cut off leaves no process behind, and nothing that the next one trips "
        "over.",
    ),
    Rule(
        "10.building.core-gone",
        "A build ends with the server, however that ends.",
    ),
)
