"""Settings through the API (section 10, "Settings")."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "10.settings.layers",
        "A setting comes from the defaults, from the config file over them, or from the state "
        "database over both; one that is cleared there falls back to the file's, and then to the "
        "default.",
    ),
    Rule(
        "10.settings.document",
        "`GET /settings` has every setting: its value in use under `values`, and under `fields` "
        "where that came from and whether a change applies `live` or at a `restart`; what nobody "
        "set and has no default is absent.",
    ),
    Rule(
        "10.settings.waiting",
        "`values` is what the process uses: a setting that waits for a restart keeps its value "
        "until then, and the restart takes the new one.",
    ),
    Rule(
        "10.settings.saved",
        "`saved` is there exactly where the database holds a value that is not in use yet; where "
        "it holds the one in use, `source` is `database`.",
    ),
    Rule(
        "10.settings.token-hidden",
        "The token is in no answer and in no message: `management.tokenSet` says whether there is "
        "one and is only read, and `saved` is `true` where another waits. An empty token is none.",
    ),
    Rule(
        "10.settings.engines",
        "Every engine in service has settings of its own, `keepAliveSeconds`; a change to one of "
        "an engine that is not there is `unknown_engine`.",
    ),
    Rule(
        "10.settings.engine-entry",
        "Of an engine that both the config file and the database name, the file's entry counts, "
        "whole; where an engine is and how it starts is no setting.",
    ),
    Rule(
        "10.settings.coerced",
        "A number or a boolean may be written as a string, and is kept as what it means.",
    ),
    Rule(
        "10.settings.arrays",
        "An array replaces the one below it.",
    ),
    Rule(
        "10.settings.folders",
        "A folder that is not absolute lies relative to the config file's, wherever it was set.",
    ),
    Rule(
        "10.settings.atomic",
        "`PATCH /settings` takes any part of `values`, is one transaction and answers with the "
        "whole document after it; of a patch that is refused nothing is written and nothing "
        "applied.",
    ),
    Rule(
        "10.settings.live",
        "`residency.maxResidentModels`, `residency.evictionWaitSeconds`, "
        "`residency.keepAliveSeconds`, each engine's `keepAliveSeconds` and `update.check` apply "
        "as soon as they are written; everything else waits for the next start.",
    ),
    Rule(
        "10.settings.deadlines",
        "A change to a keep-alive moves the deadline of every model that is idle then.",
    ),
    Rule(
        "10.settings.no-eviction",
        "A lower `residency.maxResidentModels` evicts nothing by itself; the next load that needs "
        "the room does.",
    ),
    Rule(
        "10.settings.ranges",
        "A value out of range is `bad_request` naming the setting; port 0, which takes a free "
        "port, may only stand in the config file.",
    ),
    Rule(
        "10.settings.startable",
        "A value with which the next start would be refused is `bad_request` naming the setting, "
        "as far as that can be told now: a host that is not known or not this machine's, a folder "
        "that is none or can't be made, a folder whose sockets would have too long a path.",
    ),
    Rule(
        "10.settings.ignore-saved",
        "A start that a saved value stops says where that lies and names `--ignore-saved`, with "
        "which the server starts on the defaults and the file alone; what is saved stays until it "
        "is cleared.",
    ),
    Rule(
        "10.settings.unknown-key",
        "A key that is no setting is `bad_request` naming it; `null` for a whole section is, too.",
    ),
    Rule(
        "10.settings.body",
        "A patch is a JSON object of at most 1 MiB whose content type says so; anything else is "
        "`bad_request`.",
    ),
    Rule(
        "10.settings.guarded",
        "Reading the settings is managing, as changing them is.",
    ),
    Rule(
        "10.settings.keeps-token",
        "A caller that is not local may not clear the token or set it empty: `conflict`.",
    ),
    Rule(
        "10.settings.keeps-origin",
        "A page of another machine may not leave its own origin out of `management.origins`, by a "
        "list or by clearing it: `conflict`. A page of this machine may.",
    ),
    Rule(
        "10.settings.no-database",
        "A server without a state database shows its settings, and a change is `unsupported`.",
    ),
    Rule(
        "10.settings.unwritable",
        "A change that can't be written, since the disk is full or the database is locked or gone, "
        "is `internal` naming the database, and changes nothing.",
    ),
)
