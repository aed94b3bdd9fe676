"""Who may manage a box (section 10, "Who may call them")."""

from typing import Final

from .rule import Rule

RULES: Final = (
    Rule(
        "10.guard.routes",
        "Installing, removing, pulling, unloading, jobs, settings, and making and deleting a "
        "voice are management routes, those that only read included; others are refused there "
        "as `forbidden`.",
    ),
    Rule(
        "10.guard.open",
        "Speech, listings, previews, health, the catalog and news of releases answer everybody.",
    ),
    Rule(
        "10.guard.as-routed",
        "However a path is spelt, a request that would reach a management route is judged as one "
        "before it does.",
    ),
    Rule(
        "10.guard.local",
        "A management route answers a caller on this machine's loopback, over IPv4, IPv6 and "
        "IPv4 mapped to IPv6, with no token.",
    ),
    Rule(
        "10.guard.stranger",
        "A caller from another address, or of an unknown one, is forbidden where it shows no "
        "valid token, and always where no token is set.",
    ),
    Rule(
        "10.guard.token",
        "With `management.token` set, whoever shows it as `Authorization: Bearer …` is admitted "
        "from anywhere; an empty token is none, and the header counts where it comes once.",
    ),
    Rule(
        "10.guard.token-hidden",
        "A refusal says nothing of whether a token is set.",
    ),
    Rule(
        "10.guard.origin-foreign",
        "A request that carries an `Origin` is forbidden unless it is this machine's own or "
        "listed, wherever its sender is; `null` and several of them are neither.",
    ),
    Rule(
        "10.guard.origin-own",
        "`localhost`, `127.0.0.1` and `[::1]` are this machine's own origins, over http and "
        "https and on any port.",
    ),
    Rule(
        "10.guard.origin-listed",
        "Pages of the origins in `management.origins` may manage; scheme, host and port have to "
        "be the same.",
    ),
    Rule(
        "10.guard.origin-with-token",
        "An `Origin` that is not admitted is refused with a valid token too.",
    ),
    Rule(
        "10.guard.origin-no-passport",
        "An admitted `Origin` admits nobody: its sender is judged on the rest, as one without an "
        "`Origin` is.",
    ),
    Rule(
        "10.guard.forwarded",
        "A request from loopback with `X-Forwarded-For` is local only if every address in every "
        "header of that name is loopback; what is no address is not.",
    ),
    Rule(
        "10.guard.forwarded-distrusts",
        "`X-Forwarded-For` is believed from loopback alone, and never makes anybody local.",
    ),
    Rule(
        "10.guard.forwarded-standard",
        "A request with the standard's own header, `Forwarded`, is not local, whatever it says.",
    ),
    Rule(
        "10.guard.host",
        "Who is local without a token names this machine in `Host`: an IP literal, `localhost`, "
        "its name, or the host of a listed origin. So a page whose name was pointed here reads "
        "nothing.",
    ),
    Rule(
        "10.guard.before-body",
        "A caller is refused before a byte of its body is read and before a stream opens, and "
        "the connection is not held.",
    ),
    Rule(
        "10.guard.trailers",
        "What comes after a body, as a trailer, is never taken for one of the headers that are "
        "judged or passed on.",
    ),
    Rule(
        "10.guard.proxy-variables",
        "No variable of the environment makes the server believe what a proxy says of its client.",
    ),
    Rule(
        "10.guard.secret-stripped",
        "`Authorization` is taken out of every request before anything handles it, and is never "
        "logged.",
    ),
    Rule(
        "10.guard.preflight",
        "A browser's preflight for a listed origin or one of this machine's own is answered on "
        "every path, wherever it comes from; one for another origin is not.",
    ),
    Rule(
        "10.guard.readable",
        "A page of an admitted origin may read every answer, its request id, its duration and "
        "`Retry-After`; a page of another origin may read none.",
    ),
)
