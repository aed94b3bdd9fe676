"""The model, apart from the process (contract § 3)."""

import anyio

from rhapsode_conform.check import check
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.subject import Subject


@check("3.unload.keeps-process")
async def unload_keeps_process(subject: Subject) -> None:
    """After an unload there is no model, and it can be loaded again."""
    await subject.load(subject.variant)
    await subject.unload()
    health = await subject.wire.get("/health")
    expect(health.object.get("model") == "unloaded", "the model is gone", health)
    again = await subject.load(subject.variant)
    expect(again.status == 200, "the process can load again", again)


@check("3.unload.idempotent")
async def unload_idempotent(subject: Subject) -> None:
    """A second unload succeeds as the first did."""
    await subject.unload()
    again = await subject.unload()
    expect(again.status == 200, "an unload with nothing loaded succeeds", again)
    health = await subject.health()
    expect(
        health.get("model") == "unloaded", "an unload with nothing loaded changes nothing", health
    )


@check("3.speak.loads")
async def speak_loads(subject: Subject) -> None:
    """Speaking without a model loads it."""
    unloaded = await subject.unload()
    if unloaded.is_refusal:
        raise undecided("the model could not be unloaded; see 3.unload.idempotent")
    spoken = await subject.speak()
    expect(spoken.is_audio, "asked to speak with no model loaded, it loads it and speaks", spoken)
    health = await subject.wire.get("/health")
    expect(health.object.get("model") == "loaded", "the model it spoke with is loaded", health)


@check("3.policy.worker-obeys")
async def worker_obeys(subject: Subject) -> None:
    """A model that nobody asks for stays for a while."""
    loaded = await subject.load(subject.variant)
    if loaded.is_refusal:
        raise undecided("the variant could not be loaded; see 4.variants.loadable")
    patience = subject.patience
    seconds = min(patience.idle_seconds, patience.check_seconds / 2)
    await anyio.sleep(seconds)
    health = await subject.wire.get("/health")
    is_there = health.object.get("model") == "loaded"
    expect(is_there, f"a model that was not asked for {seconds:g} s is still loaded", health)
