"""The capability document, and whether it is true (contract § 4)."""

import re
from typing import Any, Final

from rhapsode_conform.answer import Answer, as_list, as_object
from rhapsode_conform.check import Need, check
from rhapsode_conform.outcome import expect, undecided
from rhapsode_conform.subject import Subject

_ENDING: Final = re.compile(r"[a-z0-9]+(\.[a-z0-9]+)*")
_PARTS = ("contract", "engine", "license", "device", "variants", "formats")


async def _document(subject: Subject) -> Answer:
    return subject.first.capabilities


async def _loaded(subject: Subject) -> Answer:
    """Returns the document with the first variant loaded."""

    async def look() -> Answer:
        loaded = await subject.load(subject.variant)
        if loaded.is_refusal:
            raise undecided("the variant could not be loaded; see 4.variants.loadable")
        return await subject.wire.get("/capabilities")

    return await subject.once("capabilities loaded", look)


async def _current(subject: Subject) -> tuple[Answer, dict[str, Any]]:
    answer = await _loaded(subject)
    current = as_object(answer.object.get("current"))
    if not current:
        raise undecided("`current` is missing with a model loaded; see 4.current.resident")
    return answer, current


@check("4.document.parts")
async def parts(subject: Subject) -> None:
    """Every part is there."""
    answer = await _document(subject)
    missing = [part for part in _PARTS if part not in answer.object]
    expect(answer.status == 200 and not missing, f"missing: {', '.join(missing)}", answer)
    expect(as_list(answer.object["formats"]) != [], "`formats` lists at least one", answer)


@check("4.engine.identity")
async def identity(subject: Subject) -> None:
    """Id, display name and adapter version."""
    answer = await _document(subject)
    engine = as_object(answer.object.get("engine"))
    for name in ("id", "displayName", "adapterVersion"):
        value = engine.get(name)
        expect(isinstance(value, str) and value != "", f"`engine.{name}` is a text", engine)
    if subject.worker is not None:
        told = subject.worker.handshake.get("engine")
        expect(engine["id"] == told, f"`engine.id` is the handshake's, {told!r}", engine)


@check("4.license.code-and-weights")
async def licences(subject: Subject) -> None:
    """Both licences, and whether the weights may be used commercially."""
    licence = as_object((await _document(subject)).object.get("license"))
    for name in ("code", "weights"):
        value = licence.get(name)
        expect(isinstance(value, str) and value != "", f"`license.{name}` is a text", licence)
    is_said = isinstance(licence.get("weightsCommercialUse"), bool)
    expect(is_said, "`license.weightsCommercialUse` is true or false", licence)


@check("4.device.named")
async def device(subject: Subject) -> None:
    """Type and name, and the memory where it is known."""
    said = as_object((await _document(subject)).object.get("device"))
    for name in ("type", "name"):
        value = said.get(name)
        expect(isinstance(value, str) and value != "", f"`device.{name}` is a text", said)
    total = said.get("vramBytes", 1)
    expect(isinstance(total, int) and total > 0, "`device.vramBytes` is a size, or absent", said)


@check("4.variants.always")
async def variants_always(subject: Subject) -> None:
    """The same variants, loaded or not."""
    before = as_object(subject.document.get("variants"))
    expect(len(before) > 0, "`variants` lists at least one", await _document(subject))
    answer = await _loaded(subject)
    after = as_object(answer.object.get("variants"))
    expect(list(before) == list(after), "`variants` is the same with a model loaded", answer)


@check("4.variants.own-abilities")
async def own_abilities(subject: Subject) -> None:
    """Cues, deliveries and dials of each variant, each dial with its range."""
    for name, fields in as_object(subject.document.get("variants")).items():
        said = as_object(fields)
        for part in ("cues", "deliveries"):
            expect(isinstance(said.get(part), list), f"`{name}.{part}` is a list", said)
        dials = said.get("dials")
        expect(isinstance(dials, dict), f"`{name}.dials` is an object", said)
        for dial, limits in as_object(dials).items():
            ends = [as_object(limits).get(end) for end in ("min", "default", "max")]
            expect(_ascends(ends), f"`{name}.dials.{dial}`: min ≤ default ≤ max", limits)


def _ascends(ends: list[Any]) -> bool:
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return False
    return ends[0] <= ends[1] <= ends[2]


@check("4.variants.loadable")
async def loadable(subject: Subject) -> None:
    """Each variant loads."""
    for name in subject.variants:
        answer = await subject.load(name)
        is_loaded = answer.status == 200 and (await subject.health()).get("model") == "loaded"
        expect(is_loaded, f"the variant {name!r} is listed and loads", answer)


@check("4.variants.named")
async def variants_named(subject: Subject) -> None:
    """No name is empty."""
    names = list(as_object(subject.document.get("variants")))
    expect(all(name.strip() for name in names), "each variant has a name", names)


@check("4.variants.languages")
async def variants_languages(subject: Subject) -> None:
    """A list of languages is not empty, and names none twice."""
    for name, fields in as_object(subject.document.get("variants")).items():
        if "languages" not in as_object(fields):
            continue
        said = as_object(fields)["languages"]
        tags = [tag for tag in as_list(said) if isinstance(tag, str) and tag]
        is_list = tags != [] and tags == said and len(set(tags)) == len(tags)
        expect(is_list, f"`{name}.languages` lists one at least, each once, or is absent", said)


@check("4.current.absent")
async def current_absent(subject: Subject) -> None:
    """No `current` without a model."""
    await subject.unload()
    if (await subject.health()).get("model") != "unloaded":
        raise undecided("the model could not be unloaded; see 3.unload.keeps-process")
    answer = await subject.wire.get("/capabilities")
    expect("current" not in answer.object, "`current` is absent with no model loaded", answer)


@check("4.current.resident")
async def current_resident(subject: Subject) -> None:
    """`current` names what is loaded and repeats what it declares."""
    answer = await _loaded(subject)
    current = as_object(answer.object.get("current"))
    named = current.get("variant")
    expect(
        named == subject.variant, f"`current` names {subject.variant!r}, which is loaded", answer
    )
    _expect_repeated(subject, subject.variant, current)


@check("4.current.follows-switch", Need.VARIANTS)
async def follows_switch(subject: Subject) -> None:
    """After loading another variant `current` names that one, and repeats what it declares."""
    other = subject.other_variant()
    await subject.load(subject.variant)
    switched = await subject.load(other)
    if switched.is_refusal:
        raise undecided(f"{other!r} could not be loaded; see 4.variants.loadable")
    answer = await subject.wire.get("/capabilities")
    current = as_object(answer.object.get("current"))
    named = current.get("variant")
    expect(
        named == other, f"`current` names {other!r} once that is loaded", f"variant is {named!r}"
    )
    _expect_repeated(subject, other, current)


def _expect_repeated(subject: Subject, name: str, current: dict[str, Any]) -> None:
    """Goes on where `current` has all that a variant declares, and no ability that it does not."""
    declared = as_object(as_object(subject.document.get("variants")).get(name))
    for part, value in declared.items():
        is_same = _repeats(value, current.get(part))
        expect(is_same, f"`current.{part}` is what {name!r} declares", current.get(part))
    added = set(as_object(current.get("dials"))) - set(as_object(declared.get("dials")))
    expect(not added, f"`current.dials` are those of {name!r}", current.get("dials"))
    talks = "dialogue" in current
    expect(talks is ("dialogue" in declared), f"`current.dialogue` is said as by {name!r}", current)


def _repeats(declared: object, said: object) -> bool:
    """Whether `said` is `declared`; an object may hold more than the variant's own, as the
    contract's example does."""
    if not isinstance(declared, dict) or not isinstance(said, dict):
        return declared == said
    fields, fuller = as_object(declared), as_object(said)
    return all(name in fuller and _repeats(each, fuller[name]) for name, each in fields.items())


@check("4.current.limits")
async def current_limits(subject: Subject) -> None:
    """`maxCharacters` and `segmentation`."""
    _, current = await _current(subject)
    limit = current.get("maxCharacters")
    expect(isinstance(limit, int) and limit > 0, "`current.maxCharacters` is a number", current)
    split = as_object(current.get("segmentation")).get("supported")
    expect(isinstance(split, bool), "`current.segmentation.supported` is said", current)


@check("4.current.native-format")
async def native_format(subject: Subject) -> None:
    """Encoding, rate, channels and whether it streams."""
    _, current = await _current(subject)
    native = as_object(current.get("nativeFormat"))
    expect(native.get("encoding") == "pcm_s16le", "`nativeFormat.encoding` is pcm_s16le", native)
    for name in ("sampleRate", "channels"):
        value = native.get(name)
        expect(isinstance(value, int) and value > 0, f"`nativeFormat.{name}` is a number", native)
    streams = as_object(current.get("streaming")).get("supported")
    expect(isinstance(streams, bool), "`current.streaming.supported` is said", current)
    sound = await subject.sound()
    made = (sound.rate_hz, sound.channels)
    expect(made == (native["sampleRate"], native["channels"]), "the audio is what it says", made)


@check("4.cloning.per-variant")
async def cloning(subject: Subject) -> None:
    """Each variant says whether it clones."""
    for name, fields in as_object(subject.document.get("variants")).items():
        said = as_object(as_object(fields).get("cloning")).get("supported")
        expect(isinstance(said, bool), f"`{name}.cloning.supported` is true or false", fields)


@check("4.cloning.references")
async def references(subject: Subject) -> None:
    """The lengths ascend, and the endings are endings."""
    for name, fields in as_object(subject.document.get("variants")).items():
        cloning = as_object(as_object(fields).get("cloning"))
        if "referenceSeconds" in cloning:
            seconds = as_list(cloning["referenceSeconds"])
            is_range = len(seconds) == 2 and _ascends([0, *seconds])
            expect(is_range, f"`{name}.cloning.referenceSeconds`: least ≤ most", cloning)
        if "formats" in cloning:
            endings = as_list(cloning["formats"])
            are_endings = endings != [] and all(_is_ending(each) for each in endings)
            expect(are_endings, f"`{name}.cloning.formats` are endings such as `wav`", cloning)


def _is_ending(value: object) -> bool:
    return isinstance(value, str) and _ENDING.fullmatch(value) is not None


@check("8.split.declared")
async def segmentation(subject: Subject) -> None:
    """`segmentation`, where it is said, says how much one generation gets."""
    for name, fields in as_object(subject.document.get("variants")).items():
        if "segmentation" not in as_object(fields):
            continue
        split = as_object(as_object(fields)["segmentation"])
        size = split.get("segmentCharacters")
        is_said = split.get("supported") is False or isinstance(split.get("supported"), bool)
        expect(is_said, f"`{name}.segmentation.supported` is true or false", fields)
        is_size = size is None or (isinstance(size, int) and size > 0)
        expect(is_size, f"`{name}.segmentation.segmentCharacters` is a number", fields)
