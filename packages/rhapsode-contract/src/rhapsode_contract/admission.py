"""What a request must be before a variant is asked to speak it.

Pure functions of the request and the capability document. The core and the worker apply the same
ones, so that a request refused by the core would be refused by the worker too, and one sent to a
worker directly meets every rule.
"""

from collections.abc import Collection, Mapping, Sequence

from rhapsode_contract.capabilities import Dial, Variant
from rhapsode_contract.cues import is_speakable, strip_cues
from rhapsode_contract.errors import BadRequest, Unsupported
from rhapsode_contract.quoting import cut, listed, shown, there_are
from rhapsode_contract.speaking import Turn
from rhapsode_contract.vocabulary import Delivery
from rhapsode_contract.voices import check_voice_id


def effective_variant(
    requested: str | None, resident: str | None, variants: Mapping[str, Variant]
) -> str:
    """Returns the variant a request means: the one it names, else the resident, else the default.

    Raises:
        Unsupported: The request names a variant that is not listed.
        ValueError: No variant is listed at all, which no capability document says.
    """
    if requested is not None:
        if requested not in variants:
            raise Unsupported(
                f"variant: there is no {shown(requested)}; {there_are(variants)}",
                field="variant",
            )
        return requested
    if resident is not None and resident in variants:
        return resident
    for default in variants:
        return default
    raise ValueError("an engine has at least one variant")


def check_text(text: str, variant: Variant, field: str = "text") -> str:
    """Returns what is left to say of `text` on this variant, unclaimed cues stripped.

    Raises:
        BadRequest: Nothing is left that could be said, or more than the variant's limit, or it
            holds a NUL.
    """
    # Many engines hand the text to C, where it would end at the NUL and the rest go unsaid.
    if (place := text.find("\0")) >= 0:
        raise BadRequest(f"{field}: a NUL at character {place + 1}; text has none", field=field)
    rest = strip_cues(text, variant.cues)
    check_length(len(rest), variant, field)
    if not is_speakable(rest, variant.cues):
        raise BadRequest(
            f"{field}: there is nothing to say in {shown(text)}; it needs a letter, a digit or a"
            " cue of this variant",
            field=field,
        )
    return rest


def check_length(characters: int, variant: Variant, field: str = "text") -> None:
    """Holds a length, in code points, against the variant's `maxCharacters`.

    Raises:
        BadRequest: It is longer.
    """
    if characters > variant.character_limit:
        raise BadRequest(
            f"{field}: {characters} characters, {variant.character_limit} are allowed",
            field=field,
        )


def check_conversation(
    turns: Sequence[Turn], voices: Mapping[str, str], variant: Variant, name: str
) -> tuple[Turn, ...]:
    """Returns the turns of a dialogue as a variant speaks them, unclaimed cues stripped.

    Args:
        turns: As they came.
        voices: Speaker label to voice id.
        variant: The effective one.
        name: What it is called.

    Raises:
        BadRequest: A turn is unspeakable, together they are too long, a label has a voice and no
            turn, or an id is none.
        Unsupported: The variant performs no dialogue, or not with so many speakers.
    """
    if variant.dialogue is None:
        raise Unsupported(f"variant: {shown(name)} performs no dialogue", field="variant")
    stripped = tuple(
        Turn(
            speaker=turn.speaker,
            text=check_text(turn.text, variant, f"turns.{number}.text"),
        )
        for number, turn in enumerate(turns)
    )
    check_length(sum(len(turn.text) for turn in stripped), variant, "turns")
    speakers = {turn.speaker for turn in turns}
    if len(speakers) > variant.dialogue.max_speakers:
        raise Unsupported(
            f"turns: {len(speakers)} speakers, this variant has at most"
            f" {variant.dialogue.max_speakers}",
            field="turns",
        )
    for label, voice_id in voices.items():
        field = voice_field(label)
        if label not in speakers:
            raise BadRequest(f"{field}: no turn has this speaker", field=field)
        check_voice_id(voice_id, field)
    return stripped


def voice_field(label: str) -> str:
    """Names the voice of a speaker in an error, on one line, however the request calls them."""
    return f"voices.{cut(label) if label.isprintable() else shown(label)}"


def check_format(format_name: str | None, formats: Collection[str]) -> str:
    """Returns the format meant: the one named, else wav.

    Raises:
        Unsupported: This engine does not do it.
    """
    meant = "wav" if format_name is None else format_name
    if meant not in formats:
        raise Unsupported(
            f"format: there is no {shown(meant)} here; {there_are(formats)}", field="format"
        )
    return meant


def check_language(language: str | None, variant: Variant) -> str | None:
    """Returns the language meant: the one asked for, else the first of the variant's.

    A variant that lists one language, or none, ignores the field (§ 6). Tags are compared whatever
    their case.

    Raises:
        Unsupported: The variant lists several, and not this one.
    """
    languages = variant.languages or ()
    if language is None or len(languages) < 2:
        return languages[0] if languages else None
    for known in languages:
        if known.lower() == language.lower():
            return known
    raise Unsupported(
        f"language: there is no {shown(language)} here; {there_are(languages)}",
        field="language",
    )


def check_delivery(delivery: Delivery | None, variant: Variant) -> Delivery | None:
    """Returns `delivery` if the variant performs it.

    Raises:
        Unsupported: It does not. The core drops such a delivery before a worker sees it (§ 6).
    """
    if delivery is not None and delivery not in variant.deliveries:
        raise Unsupported(
            f"delivery: this variant has no {shown(delivery)}; it has {listed(variant.deliveries)}",
            field="delivery",
        )
    return delivery


def check_params(params: Mapping[str, float] | None, dials: Mapping[str, Dial]) -> dict[str, float]:
    """Returns the dials a request turns, each known and in range.

    Raises:
        BadRequest: A key is no dial of this variant, or its value is out of range.
    """
    turned = dict(params or {})
    for name, value in turned.items():
        field = cut(f"params.{name}")
        dial = dials.get(name)
        if dial is None:
            raise BadRequest(
                f"{field}: this variant has no such dial; it has {listed(dials)}", field=field
            )
        if not dial.min <= value <= dial.max:
            raise BadRequest(
                f"{field}: {value} is out of range, {dial.min} to {dial.max} are allowed",
                field=field,
            )
    return turned
