"""Jobs, pulls, and what a job tells while it runs (section 10, "Jobs")."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "10.pull.job",
        "`POST /engines/{id}/pull` answers 202 with a job that downloads the variant of its body, "
        "for engines of the operator too.",
    ),
    Rule(
        "10.pull.unsupported",
        "A pull for an engine that cannot fetch fails as `unsupported`.",
    ),
    Rule(
        "10.pull.unknown",
        "A pull for an engine that is not in service is `unknown_engine`.",
    ),
    Rule(
        "10.jobs.shape",
        "A job tells its engine, kind, state, step, variant and times, and leaves out what has not "
        "happened.",
    ),
    Rule(
        "10.jobs.error",
        "A failed job, and no other, carries the body of an error envelope.",
    ),
    Rule(
        "10.jobs.one-at-a-time",
        "One job runs at a time; the rest are queued, in the order in which they came.",
    ),
    Rule(
        "10.jobs.failure-alone",
        "A job that fails stops none behind it.",
    ),
    Rule(
        "10.jobs.conflict",
        "An engine has at most one job queued or running; a second one is `conflict`.",
    ),
    Rule(
        "10.jobs.newest-first",
        "`GET /installs` lists every job that is known, the newest first.",
    ),
    Rule(
        "10.jobs.kept",
        "A job that is over is kept until fifty more have ended after it.",
    ),
    Rule(
        "10.jobs.unknown",
        "A job that is not known is `bad_request` with a 404.",
    ),
    Rule(
        "10.jobs.shutdown",
        "A job that is not over when the server stops is stopped and marked failed.",
    ),
    Rule(
        "10.events.shape",
        "An event is a frame with `id`, `event` and one JSON object that has the job's id as "
        "`correlationId`.",
    ),
    Rule(
        "10.events.kinds",
        "Steps come as `progress`, printed lines as `log`, the outcome as `status` or `error`.",
    ),
    Rule(
        "10.events.ids",
        "Ids only grow, over all jobs, for as long as the process lives.",
    ),
    Rule(
        "10.events.last",
        "The last event of a job is a `progress` whose status is `done` or `failed`, and there is "
        "one of them.",
    ),
    Rule(
        "10.events.stays-open",
        "The stream does not end when the job does; its client closes it.",
    ),
    Rule(
        "10.events.replay",
        "Without `Last-Event-ID` a client gets what is kept of a job's events, then what comes, so "
        "that one who comes after the end gets the last.",
    ),
    Rule(
        "10.events.buffer",
        "A thousand events of each job are kept.",
    ),
    Rule(
        "10.events.resume",
        "With `Last-Event-ID` a client goes on right behind the event it names.",
    ),
    Rule(
        "10.events.resync",
        "Where that event is no longer kept, was never sent, or is no number, a `resync` event "
        "with empty data comes first.",
    ),
    Rule(
        "10.events.pinned",
        "The events are those of the job in the path, whatever the query says.",
    ),
    Rule(
        "10.events.bytes",
        "A download tells its bytes in `data`, up to the last, without pushing other events out of "
        "the buffer.",
    ),
    Rule(
        "10.events.slow-reader",
        "A client that does not read holds no job up, and hears of its gap when it reads again.",
    ),
)
