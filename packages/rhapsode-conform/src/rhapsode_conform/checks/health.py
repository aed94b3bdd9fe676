"""What a worker says of its process and its model (contract § 3)."""

from typing import Any

from rhapsode_conform.answer import Answer, as_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.outcome import expect
from rhapsode_conform.subject import Subject

_MODELS = {"unloaded", "loading", "loaded", "unloading"}


async def healths(subject: Subject) -> list[Answer]:
    """Returns the health before a model was asked for, and with one loaded."""

    async def look() -> list[Answer]:
        await subject.load(subject.variant)
        return [subject.first.health, await subject.wire.get("/health")]

    return await subject.once("healths", look)


@check("3.start.loads-nothing", Need.SPAWNED)
async def starts_unloaded(subject: Subject) -> None:
    """The first health after the handshake has no model."""
    health = subject.first.health
    is_unloaded = health.object.get("model") == "unloaded" and "variant" not in health.object
    expect(is_unloaded, "a worker that has just started has no model", health)


@check("3.health.both")
async def both(subject: Subject) -> None:
    """`process`, `model` and `device`, and `variant` with a model."""
    for health in await healths(subject):
        said = health.object
        expect(health.status == 200, "health answers 200", health)
        expect(said.get("process") == "up", "`process` is up", health)
        expect(said.get("model") in _MODELS, f"`model` is one of {sorted(_MODELS)}", health)
        device = said.get("device")
        expect(isinstance(device, str) and device != "", "`device` is named", health)
        if said.get("model") == "loaded":
            expect(isinstance(said.get("variant"), str), "`variant` names what is loaded", health)


@check("3.health.vram")
async def vram(subject: Subject) -> None:
    """Absent, or a size that fits into the device."""
    total = as_object(subject.document.get("device")).get("vramBytes")
    for health in await healths(subject):
        if "vramBytes" in health.object:
            used = health.object["vramBytes"]
            # Nothing may well be in use, unlike a model that takes nothing.
            fits = used == 0 or (_is_size(used) and (not _is_size(total) or used <= total))
            expect(fits, "`vramBytes` is what the device holds in use, or absent", health)


@check("3.health.model-bytes-honest")
async def model_bytes(subject: Subject) -> None:
    """Absent, or a size; never 0."""
    for health in await healths(subject):
        if "modelBytes" in health.object:
            expect(
                _is_size(health.object["modelBytes"]), "`modelBytes` is above 0, or absent", health
            )
            is_loaded = health.object.get("model") == "loaded"
            expect(is_loaded, "`modelBytes` without a model", health)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
