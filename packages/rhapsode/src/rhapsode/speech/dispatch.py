"""From what a client asked to what the worker is asked: a function of values (contract §§ 4-6)."""

from dataclasses import dataclass
from typing import Final

from rhapsode_contract import (
    Capabilities,
    DialogueRequest,
    PublicDialogueRequest,
    PublicSpeakRequest,
    SpeakRequest,
    Variant,
    check_conversation,
    check_format,
    check_language,
    check_params,
    check_text,
    check_voice_id,
    effective_variant,
)

_GROWING_SEGMENTS: Final = 12
"""More than it takes from the smallest first segment to one of full size, doubling."""


@dataclass(frozen=True)
class Dispatch:
    """A request that has passed every check the core can make."""

    target: str
    """The worker's route."""

    request: SpeakRequest | DialogueRequest
    """What the worker is asked; its variant is always named."""

    variant: str
    """The effective one."""

    is_streamed: bool

    keep_alive_seconds: int | None
    """What the client says of the model it loads; never sent to a worker (§ 3)."""

    character_limit: int
    """Most code points the variant takes: what a buffered answer is bounded by."""

    segments: int
    """At most so many generations; what a buffered answer's time is bounded by."""


def dispatch(
    body: PublicSpeakRequest, capabilities: Capabilities, resident: str | None
) -> Dispatch:
    """Holds a request against what its engine declares.

    Cues that the effective variant does not claim are stripped, a delivery that it does not claim
    is dropped (one outside the vocabulary was refused before: see `SpeakRequest.delivery`);
    `current` is never looked at.

    Args:
        body: As it came.
        capabilities: The engine's.
        resident: The variant that is loaded, or None.

    Raises:
        BadRequest: The text is too long or unspeakable, a dial unknown or out of range, the voice
            id no id.
        Unsupported: The variant, format or language is not listed.
    """
    name = effective_variant(body.variant, resident, capabilities.variants)
    variant = capabilities.variants[name]
    text = check_text(body.text, variant)
    if body.voice is not None:
        check_voice_id(body.voice)
    request = SpeakRequest(
        text=text,
        voice=body.voice,
        variant=name,
        format=check_format(body.format, capabilities.formats),
        language=check_language(body.language, variant),
        delivery=body.delivery if body.delivery in variant.deliveries else None,
        params=check_params(body.params, variant.dials) or None,
        seed=body.seed,
        stream=bool(body.stream),
    )
    return _dispatch("/speak", request, body, name, variant, len(text))


def dispatch_dialogue(
    body: PublicDialogueRequest, capabilities: Capabilities, resident: str | None
) -> Dispatch:
    """The same for a conversation, which is one take however long it is.

    Raises:
        BadRequest: A turn is unspeakable, together they are too long, a dial is unknown or out of
            range, a label has a voice and no turn, or an id is none.
        Unsupported: The variant performs no dialogue or not with so many speakers, or the variant,
            format or language is not listed.
    """
    name = effective_variant(body.variant, resident, capabilities.variants)
    variant = capabilities.variants[name]
    turns = check_conversation(body.turns, body.voices or {}, variant, name)
    request = DialogueRequest(
        turns=turns,
        voices=body.voices,
        variant=name,
        format=check_format(body.format, capabilities.formats),
        language=check_language(body.language, variant),
        params=check_params(body.params, variant.dials) or None,
        seed=body.seed,
        stream=bool(body.stream),
    )
    characters = sum(len(turn.text) for turn in turns)
    return _dispatch("/dialogue", request, body, name, variant, characters)


def _dispatch(
    target: str,
    request: SpeakRequest | DialogueRequest,
    body: PublicSpeakRequest | PublicDialogueRequest,
    name: str,
    variant: Variant,
    characters: int,
) -> Dispatch:
    return Dispatch(
        target=target,
        request=request,
        variant=name,
        is_streamed=bool(body.stream),
        keep_alive_seconds=body.keep_alive_seconds,
        character_limit=variant.character_limit,
        segments=_segments(characters, variant),
    )


def _segments(characters: int, variant: Variant) -> int:
    """Returns a bound on the generations that a text makes.

    Pieces are packed greedily, so two neighbours are together longer than one segment may be;
    but the first ones may be smaller, each up to twice the one before.
    """
    if variant.segmentation is None or not variant.segmentation.segment_characters:
        return 1
    return _GROWING_SEGMENTS + 2 * characters // variant.segmentation.segment_characters
