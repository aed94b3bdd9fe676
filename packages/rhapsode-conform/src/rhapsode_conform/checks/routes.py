"""The routes of a worker (contract § 1)."""

from typing import Final

from rhapsode_conform.answer import as_object
from rhapsode_conform.check import check
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.subject import Subject

ROUTES: Final = {
    "/capabilities": "GET",
    "/voices": "GET",
    "/health": "GET",
    "/load": "POST",
    "/unload": "POST",
    "/terminate": "POST",
    "/fetch": "POST",
    "/speak": "POST",
    "/dialogue": "POST",
}
"""Each route that a worker has, and how it is asked."""


@check("1.routes.worker")
async def routes(subject: Subject) -> None:
    """None of them is a route that nobody serves."""
    for path, method in ROUTES.items():
        # One that is asked to end does end; that it is there shows in how it refuses a GET.
        asked = "GET" if path == "/terminate" else method
        answer = await subject.wire.send(asked, path)
        is_served = answer.status not in {404, 405, 501} or (
            asked != method and answer.status == 405
        )
        expect(is_served, f"{method} {path} is not served", answer)


@check("1.protocol.shared")
async def shared(subject: Subject) -> None:
    """`/speak` takes no engine: a worker is one."""
    spoken = await subject.speak()
    if not spoken.is_audio:
        raise undecided("it does not speak; see 3.speak.loads")
    engine = as_object(subject.document.get("engine")).get("id", "it")
    named = await subject.speak(engine=engine)
    expect(
        named.is_refusal, "a worker is one engine, so `engine` is no field of its requests", named
    )


@check("d.verbs.answers")
async def verbs(subject: Subject) -> None:
    """`/load` and `/unload` answer health, `/fetch` 204."""
    for answer in (await subject.load(subject.variant), await subject.unload()):
        is_health = answer.status == 200 and {"process", "model", "device"} <= set(answer.object)
        expect(is_health, f"{answer.target} answers 200 with the health", answer)
    fetched = await subject.wire.post("/fetch", {"variant": subject.variant})
    is_done = fetched.status == 204 or fetched.is_refusal
    expect(is_done, "/fetch answers 204 when the weights are there", fetched)
