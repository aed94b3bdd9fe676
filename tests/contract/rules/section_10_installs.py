"""Installing, reinstalling and removing engines, and what exists (section 10)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "10.listing.shape",
        "`GET /catalog` lists every engine that exists, installed or not, with both licences and "
        "its default variant.",
    ),
    Rule(
        "10.listing.installed",
        "There `installed` is no, installing or yes, and yes while an engine is built anew; "
        "`managed` says whether this API installed it; an installed one carries `workerVersion` "
        "and `outdated` where they are known.",
    ),
    Rule(
        "10.install.accepted",
        "`POST /engines/{id}/install` answers 202 with the job; a bare one needs no body and no "
        "query.",
    ),
    Rule(
        "10.install.steps",
        "An install goes through venv, packages, verify and register, then weights where it was "
        "asked to, and the job says which step it is on.",
    ),
    Rule(
        "10.install.query",
        "A parameter that is empty, repeated or unknown is `bad_request`, and there is no job.",
    ),
    Rule(
        "10.install.conflict",
        "Installing what is installed, being installed, or named in the operator's config, even "
        "disabled, is `conflict`.",
    ),
    Rule(
        "10.install.unknown",
        "Installing an id that is not in the catalog is `unknown_engine`.",
    ),
    Rule(
        "10.install.no-database",
        "A server without a state database answers an install `unsupported`.",
    ),
    Rule(
        "10.install.remains",
        "What lies in either slot of an engine that is installed, and that no engine points at, is "
        "removed before it is built.",
    ),
    Rule(
        "10.install.register",
        "An install records its engine in the state database and puts it in service.",
    ),
    Rule(
        "10.install.no-restart",
        "No restart follows an install: the next request for the engine starts its worker.",
    ),
    Rule(
        "10.install.failure",
        "An install that fails before it is recorded leaves the box as it was.",
    ),
    Rule(
        "10.install.pull",
        "`?pull=` names a variant whose weights the same job fetches, once the engine is in "
        "service; one that the catalog does not list is `unsupported`.",
    ),
    Rule(
        "10.install.pull-fails",
        "A download that fails fails the job at weights and leaves the engine installed; the way "
        "on is a pull.",
    ),
    Rule(
        "10.install.no-fetch",
        "An engine that cannot fetch is installed all the same: the job says so in its output and "
        "succeeds.",
    ),
    Rule(
        "10.accept.needed",
        "Weights that are not for commercial use are installed only with `?accept=` and the "
        "catalog's words for their licence; a refusal names it and the query that accepts it.",
    ),
    Rule(
        "10.accept.commercial",
        "Weights for commercial use need no `accept`, and one that is sent must name their licence "
        "all the same.",
    ),
    Rule(
        "10.accept.recorded",
        "The licence that was accepted is recorded with the engine, and none where none was "
        "needed.",
    ),
    Rule(
        "10.uninstall.removes",
        "`DELETE /engines/{id}` ends the worker, takes the engine out of service and out of the "
        "database, and deletes its virtualenv and the other slot's.",
    ),
    Rule(
        "10.uninstall.only-inside",
        "Only a virtualenv in `install.venvDir` is deleted, and nothing that a link leads to.",
    ),
    Rule(
        "10.uninstall.operators",
        "Removing an engine that the operator configured is `conflict`.",
    ),
    Rule(
        "10.uninstall.speaking",
        "Removing an engine that is speaking is `conflict`; nothing is cut off.",
    ),
    Rule(
        "10.uninstall.unknown",
        "Removing an engine that is not installed is `unknown_engine`.",
    ),
    Rule(
        "10.reinstall.steps",
        "`POST /engines/{id}/reinstall` answers 202 with a job that goes through an install's "
        "first four steps.",
    ),
    Rule(
        "10.reinstall.slots",
        "An engine is built anew in whichever of its two slots it does not run from, and the slot "
        "it left is deleted last; a virtualenv is never moved.",
    ),
    Rule(
        "10.reinstall.beside",
        "The engine goes on from its old virtualenv until the new one works.",
    ),
    Rule(
        "10.reinstall.remains",
        "What an unfinished reinstall left in the other slot is removed by the next.",
    ),
    Rule(
        "10.reinstall.failure-changes-nothing",
        "A reinstall that fails or is cut off before it is recorded changes nothing.",
    ),
    Rule(
        "10.reinstall.waits-for-speaking",
        "At register a reinstall waits up to ten minutes for the engine to stop speaking; after "
        "that it fails with `conflict` and nothing has changed.",
    ),
    Rule(
        "10.reinstall.database-first",
        "A core that ends right after the new slot is recorded starts on the new virtualenv.",
    ),
    Rule(
        "10.reinstall.unknown",
        "Reinstalling an engine that is not installed, or not in the catalog, is `unknown_engine`.",
    ),
    Rule(
        "10.reinstall.operators",
        "Reinstalling an engine that the operator's config names is `conflict`.",
    ),
    Rule(
        "10.reinstall.no-database",
        "Without a state database every engine is its operator's: reinstalling and removing one is "
        "`conflict`.",
    ),
    Rule(
        "10.reinstall.accept",
        "A reinstall asks for `accept` only where the recorded licence is not the catalog's; one "
        "that is sent is checked and recorded as an install's is.",
    ),
    Rule(
        "10.outdated.queues",
        "`POST /installs/outdated` answers 202 with a reinstall for each engine this API installed "
        "that is outdated, in the order of ids; none is a success.",
    ),
    Rule(
        "10.outdated.skips",
        "What it cannot reinstall it skips, saying why: licence, busy or uncatalogued.",
    ),
    Rule(
        "10.outdated.never-refuses",
        "One engine that is skipped keeps no other from being reinstalled.",
    ),
)
