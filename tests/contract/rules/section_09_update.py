"""Updates: how the server learns whether it is current (section 9)."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "9.update.open",
        "`GET /update` and `POST /update/check` answer every caller.",
    ),
    Rule(
        "9.update.off",
        "`check` is `off` where `update.check` says so, and then nobody is ever asked. It is on "
        "where nobody says otherwise.",
    ),
    Rule(
        "9.update.environment",
        "`RHAPSODE_UPDATE_CHECK=0` turns the check off whatever the setting says; nothing in the "
        "environment turns it on.",
    ),
    Rule(
        "9.update.pending",
        "`check` is `pending` before the first answer has come, so a first call after a start "
        "reads that.",
    ),
    Rule(
        "9.update.ok",
        "`check` is `ok` once an answer has come. `latest`, `updateAvailable`, `releaseUrl` and "
        "`checkedAt` are there then, and only then.",
    ),
    Rule(
        "9.update.failed",
        "`check` is `failed` when the last attempt got no answer, which is an answer of status 200 "
        "and no error.",
    ),
    Rule(
        "9.update.github",
        "GitHub's API is asked for the latest release of the repository.",
    ),
    Rule(
        "9.update.no-prerelease",
        "A draft or a prerelease is never offered.",
    ),
    Rule(
        "9.update.user-agent",
        "The question names rhapsode and its version, and says nothing else of the box.",
    ),
    Rule(
        "9.update.only-when-asked",
        "A request that finds no answer, or one older than a day, sets off one check in the "
        "background.",
    ),
    Rule(
        "9.update.never-waits",
        "`GET /update` answers at once with what is known and never waits for the network.",
    ),
    Rule(
        "9.update.daily",
        "An answer stands for a day, whichever of the two routes asked for it.",
    ),
    Rule(
        "9.update.retry",
        "A failed check is tried again after six hours.",
    ),
    Rule(
        "9.update.no-timer",
        "A box that nobody asks never asks, and there is nothing that a shutdown waits for.",
    ),
    Rule(
        "9.update.not-health",
        "Nothing of a check reaches `GET /health`.",
    ),
    Rule(
        "9.update.compared",
        "`updateAvailable` compares versions of the form x.y.z: nobody is offered a downgrade, and "
        "a latest release that has no such version offers nothing.",
    ),
    Rule(
        "9.update.distribution",
        "`distribution` is `docker` in the published image and `source` everywhere else.",
    ),
    Rule(
        "9.update.ten-seconds",
        "`POST /update/check` answers with the same document once GitHub has, and waits ten "
        "seconds at most.",
    ),
    Rule(
        "9.update.spared",
        "Nobody makes the box ask more than once in five minutes: an answer younger than that is "
        "given again as it is.",
    ),
    Rule(
        "9.update.joined",
        "A request that comes while a check is in flight waits for that one.",
    ),
    Rule(
        "9.update.check-respects-off",
        "`POST /update/check` does not override `off`: it says so and asks nobody.",
    ),
)
