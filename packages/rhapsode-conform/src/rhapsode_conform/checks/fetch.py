"""Weights, downloaded before they are needed (contract § 8)."""

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import check
from rhapsode_conform.outcome import expect, skipped
from rhapsode_conform.subject import Subject


async def _fetched(subject: Subject) -> Answer:
    async def ask() -> Answer:
        await subject.unload()
        return await subject.wire.post("/fetch", {"variant": subject.variant})

    return await subject.once("fetched", ask)


@check("8.fetch.optional")
async def optional(subject: Subject) -> None:
    """It is done, or said not to be done here."""
    answer = await _fetched(subject)
    is_told = answer.code == "unsupported" or not answer.is_refusal
    expect(is_told, "an engine that fetches nothing answers `unsupported`", answer)


@check("8.fetch.downloads")
async def downloads(subject: Subject) -> None:
    """It answers when the weights are there, and loads nothing."""
    answer = await _fetched(subject)
    if answer.code == "unsupported":
        raise skipped("this engine fetches nothing")
    health = await subject.wire.get("/health")
    expect(health.object.get("model") == "unloaded", "a fetch puts nothing on the device", health)
    wrong = await subject.wire.post("/fetch", {"variant": "no-such-variant-1"})
    expect(wrong.is_refusal, "the weights of an unknown variant are refused", wrong)
