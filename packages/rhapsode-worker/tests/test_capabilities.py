"""The capability document: what an adapter declares, as the wire shows it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rhapsode_contract import Capabilities, Voice
from rhapsode_worker.capabilities import (
    DeclarationError,
    check_declaration,
    describe,
)
from rhapsode_worker.devices import Device
from rhapsode_worker.engine import Engine, LicenseFields
from rhapsode_worker.native_format import NativeFormat
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.studio import Studio
from rhapsode_worker.variant import Variant


class Declared(Engine):
    """Does nothing and declares much."""

    id = "declared"
    display_name = "Declared"
    license = LicenseFields(
        code="GPL-3.0-or-later",
        weights="CC-BY-NC-4.0",
        weights_commercial_use=False,
        notes="eSpeak",
    )
    native_format = NativeFormat(sample_rate=22_050)
    upstream_version = "4.2"

    def variants(self) -> dict[str, Variant]:
        return {
            "zeta": Variant(
                cues=["laugh"],
                deliveries=["hushed"],
                dials={"cfgWeight": (0.0, 1.0, 0.5)},
                languages=["en", "fr"],
                max_characters=99,
            ),
            "alpha": Variant(streaming=None, native_format=NativeFormat(channels=2)),
        }

    def load(self, variant: str) -> None: ...

    def unload(self) -> None: ...

    def voices(self) -> list[Voice]:
        return []

    def speak(self, req: SpeakRequest) -> Iterator[bytes]:
        raise NotImplementedError


def document(resident: str | None, engine: Engine | None = None) -> dict[str, Any]:
    described = describe(
        engine or Declared(),
        contract=1,
        device=Device("cuda", "Card", vram_bytes=8),
        formats=("wav", "pcm"),
        resident=resident,
    )
    sent: dict[str, Any] = json.loads(described.to_json())
    Capabilities.model_validate(sent)
    return sent


@pytest.mark.contract(
    "4.document.parts",
    "4.engine.identity",
    "4.license.code-and-weights",
    "4.device.named",
    "8.capabilities.assembled",
)
def test_it_says_who_what_on_what_and_under_which_licences() -> None:
    sent = document(None)
    assert list(sent) == ["contract", "engine", "license", "device", "variants", "formats"]
    assert sent["contract"] == 1
    assert sent["engine"] == {
        "id": "declared",
        "displayName": "Declared",
        "adapterVersion": "0.1.0",
        "upstreamVersion": "4.2",
    }
    assert sent["license"] == {
        "code": "GPL-3.0-or-later",
        "weights": "CC-BY-NC-4.0",
        "weightsCommercialUse": False,
        "notes": "eSpeak",
    }
    assert sent["device"] == {"type": "cuda", "name": "Card", "vramBytes": 8}
    assert sent["formats"] == ["wav", "pcm"]


@pytest.mark.contract("4.current.absent", "4.variants.always")
def test_without_a_resident_model_there_is_no_current_and_every_variant() -> None:
    sent = document(None)
    assert "current" not in sent
    assert list(sent["variants"]) == ["zeta", "alpha"]  # as declared: the first is the default


@pytest.mark.contract("4.variants.own-abilities", "4.cloning.per-variant", "4.blending.absent")
def test_each_variant_says_what_it_can_do() -> None:
    no = {"supported": False}
    assert document(None)["variants"] == {
        "zeta": {
            "cues": ["laugh"],
            "deliveries": ["hushed"],
            "dials": {"cfgWeight": {"min": 0.0, "max": 1.0, "default": 0.5}},
            "languages": ["en", "fr"],
            "maxCharacters": 99,
            "cloning": no,
            "blending": no,
            "segmentation": no,
        },
        "alpha": {
            "cues": [],
            "deliveries": [],
            "dials": {},
            "maxCharacters": 4096,
            "cloning": no,
            "blending": no,
            "segmentation": no,
        },
    }


@pytest.mark.contract(
    "4.current.resident", "4.current.follows-switch", "4.current.limits", "4.current.native-format"
)
def test_current_repeats_the_resident_variant_and_adds_how_it_sounds() -> None:
    for resident, streaming, native in (
        ("zeta", {"supported": True, "granularity": "chunk"}, (22_050, 1)),
        ("alpha", {"supported": False}, (24_000, 2)),
    ):
        sent = document(resident)
        current = sent["current"]
        assert current.pop("variant") == resident
        assert current.pop("streaming") == streaming
        rate, channels = native
        assert current.pop("nativeFormat") == {
            "encoding": "pcm_s16le",
            "sampleRate": rate,
            "channels": channels,
        }
        assert current == sent["variants"][resident]


def test_a_variant_may_make_other_samples_than_its_engine() -> None:
    engine = Declared()
    engine.device = Device("cpu", "a processor")
    studio = Studio(engine)
    assert studio.native_format("zeta") == NativeFormat(sample_rate=22_050)
    assert studio.native_format("alpha") == NativeFormat(channels=2)


def test_an_engine_without_an_upstream_or_notes_leaves_them_out() -> None:
    class Bare(Declared):
        license = LicenseFields(code="MIT", weights="none", weights_commercial_use=True)
        upstream_version = None

    sent = document(None, Bare())
    assert "upstreamVersion" not in sent["engine"]
    assert "notes" not in sent["license"]


def variants_of(**fields: Any) -> Callable[[Engine], dict[str, Variant]]:
    """A `variants` of a good one and then one with these fields."""
    return lambda _: {"good": Variant(), "odd": Variant(**fields)}


WRONG: dict[str, dict[str, Any]] = {
    "half a licence": {"license": {"code": "MIT"}},
    "no name": {"display_name": None},
    "no samples": {"native_format": None},
    "a licence misspelt": {
        "license": {"code": "MIT", "weights": "", "weights_commercial_use": True, "note": "x"}
    },
    "a licence that is no dict": {"license": "MIT"},
    "a type with its dot": {"reference_formats": (".WAV",)},
    "a type alone": {"reference_formats": "wav"},
    "nobody to speak": {"max_speakers": 0},
    "a variant without a name": {"variants": lambda _: {"": Variant()}},  # pyright: ignore[reportUnknownLambdaType]
    "no thread": {"concurrency": 0},
    "no line": {"queue_limit": -1},
    "no variant": {"variants": dict[str, Variant]},
    "no list": {"variants": "plain"},
    "no cue": {"variants": variants_of(cues=["yawn"])},
    "no granularity": {"variants": variants_of(streaming="word")},
    "no format": {"variants": variants_of(native_format="wav")},
    "an endless dial": {"variants": variants_of(dials={"speed": (0.0, float("inf"), 1.0)})},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_a_declaration_that_is_none_is_found_before_anything_is_resident(
    wrong: dict[str, Any],
) -> None:
    good, broken = Declared(), type("Broken", (Declared,), wrong)()
    for engine in (good, broken):
        engine.device = Device("cpu", "a processor")
    check_declaration(good)
    with pytest.raises(DeclarationError, match="Broken"):
        check_declaration(broken)


@pytest.mark.parametrize(
    ("wrong", "named", "not_named"),
    [
        ({"concurrency": 0}, "concurrency", "queue_limit"),
        ({"license": {"code": "MIT"}}, "license: weights", "pydantic"),
        ({"license": {**Declared.license, "note": "x"}}, "license: 'note'", "pydantic"),
        ({"display_name": None}, "display_name: ", "pydantic"),
    ],
)
def test_the_part_that_is_wrong_is_named_and_no_other(
    wrong: dict[str, Any], named: str, not_named: str
) -> None:
    engine = type("Broken", (Declared,), wrong)()
    engine.device = Device("cpu", "a processor")
    with pytest.raises(DeclarationError, match=named) as failure:
        check_declaration(engine)
    assert not_named not in str(failure.value)
