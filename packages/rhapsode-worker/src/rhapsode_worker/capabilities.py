"""The capability document, assembled from what an adapter declares (contract § 8)."""

import rhapsode_contract as wire
from pydantic import ValidationError
from rhapsode_contract import (
    CONTRACT,
    FORMATS,
    Capabilities,
    Current,
    Device,
    EngineInfo,
    License,
)

from rhapsode_worker.abilities import Abilities
from rhapsode_worker.declaration import check_engine
from rhapsode_worker.devices import Device as EngineDevice
from rhapsode_worker.engine import Engine
from rhapsode_worker.variant import Variant


class DeclarationError(Exception):
    """What an adapter says of itself is no declaration."""


def describe(
    engine: Engine,
    *,
    contract: int,
    device: EngineDevice,
    formats: tuple[str, ...],
    resident: str | None,
) -> Capabilities:
    """Returns the document.

    Args:
        engine: The adapter.
        contract: The version this worker answers at.
        device: What the engine computes on.
        formats: Those the worker can encode.
        resident: Name of the variant whose model is resident; `current` is absent without one.
    """
    variants = engine.variants()
    return Capabilities(
        contract=contract,
        engine=EngineInfo(
            id=engine.id,
            display_name=engine.display_name,
            adapter_version=engine.adapter_version,
            upstream_version=engine.upstream_version,
        ),
        license=License.model_validate(engine.license),
        device=Device(type=device.type, name=device.name, vram_bytes=device.vram_bytes),
        current=_current(engine, resident, variants) if resident is not None else None,
        variants={name: _on_the_wire(engine, variant) for name, variant in variants.items()},
        formats=formats,
    )


def check_declaration(engine: Engine) -> None:
    """Assembles every document that an engine may come to have, so that a wrong one is found at
    its start. Its device must be set.

    Raises:
        DeclarationError: Some part of it is missing or makes no sense.
    """
    try:
        check_engine(engine)
        for resident in (None, *engine.variants()):
            describe(
                engine,
                contract=CONTRACT,
                device=engine.device,
                formats=FORMATS,
                resident=resident,
            )
    except (ValueError, TypeError, AttributeError) as error:
        name = type(engine).__name__
        raise DeclarationError(f"{name} declares itself wrongly: {_said(error)}") from error


def _said(error: Exception) -> str:
    """Returns what is wrong; the names of the parts, where it is the document that they make."""
    if not isinstance(error, ValidationError):
        return str(error)
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)
    )


def _current(engine: Engine, resident: str, variants: dict[str, Variant]) -> Current:
    variant = variants[resident]
    native = variant.native_format or engine.native_format
    streaming = wire.Streaming(
        supported=variant.streaming is not None, granularity=variant.streaming
    )
    samples = wire.NativeAudio(
        encoding="pcm_s16le", sample_rate=native.sample_rate, channels=native.channels
    )
    own = _on_the_wire(engine, variant).model_dump()
    return Current.model_validate(
        own | {"variant": resident, "streaming": streaming, "native_format": samples}
    )


def _on_the_wire(engine: Engine, variant: Variant) -> wire.Variant:
    """What a variant says of itself, resident or not."""
    abilities = Abilities(engine)
    return wire.Variant(
        cues=tuple(variant.cues),
        deliveries=tuple(variant.deliveries),
        dials={
            name: wire.Dial(min=smallest, max=largest, default=default)
            for name, (smallest, largest, default) in variant.dials.items()
        },
        languages=tuple(variant.languages) if variant.languages is not None else None,
        max_characters=variant.max_characters,
        segmentation=wire.Segmentation(
            supported=variant.segment_characters is not None,
            segment_characters=variant.segment_characters,
        ),
        cloning=_cloning(engine, variant, abilities),
        blending=wire.Blending(supported=abilities.can_blend and variant.can_clone),
        dialogue=(
            wire.DialogueSupport(max_speakers=engine.max_speakers)
            if abilities.has_dialogue
            else None
        ),
    )


def _cloning(engine: Engine, variant: Variant, abilities: Abilities) -> wire.Cloning:
    if not abilities.can_clone or not variant.can_clone:
        return wire.Cloning(supported=False)
    return wire.Cloning(
        supported=True,
        reference_seconds=variant.reference_seconds,
        formats=tuple(engine.reference_formats),
    )
