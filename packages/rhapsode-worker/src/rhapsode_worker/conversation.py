"""A dialogue off the wire, as the engine is asked it: every check, before the adapter is called."""

import rhapsode_contract as wire
from rhapsode_contract import BadRequest, Unsupported, check_voice_id

from rhapsode_worker.dispatch import Utterance, checked_text, every_dial
from rhapsode_worker.requests import DialogueRequest, Turn


def dispatch_dialogue(body: wire.DialogueRequest, capabilities: wire.Capabilities) -> Utterance:
    """Holds a conversation against what the engine declares; its voices are looked up elsewhere.

    Args:
        body: As it came.
        capabilities: As the worker declares them now, `current` included.

    Raises:
        BadRequest: A turn is unspeakable, together they are too long, a dial is unknown or out of
            range, a label has a voice and no turn, or an id is none.
        Unsupported: The variant performs no dialogue or not with so many speakers, or the variant,
            format or language is not declared.
    """
    resident = capabilities.current.variant if capabilities.current else None
    name = wire.effective_variant(body.variant, resident, capabilities.variants)
    variant = capabilities.variants[name]
    if variant.dialogue is None:
        raise Unsupported(f"the variant {name!r} performs no dialogue", field="variant")
    turns = tuple(
        Turn(turn.speaker, checked_text(turn.text, variant, f"turns.{number}.text"))
        for number, turn in enumerate(body.turns)
    )
    wire.check_length(sum(len(turn.text) for turn in turns), variant, "turns")
    _check_speakers(turns, body.voices or {}, variant.dialogue.max_speakers)
    return Utterance(
        request=DialogueRequest(
            turns=turns,
            variant=name,
            voices=dict(body.voices or {}),
            language=wire.check_language(body.language, variant),
            params=every_dial(body.params, variant),
            seed=body.seed,
        ),
        format=wire.check_format(body.format, capabilities.formats),
        is_streamed=bool(body.stream),
        max_seconds=variant.character_limit,
    )


def _check_speakers(turns: tuple[Turn, ...], voices: dict[str, str], max_speakers: int) -> None:
    speakers = list(dict.fromkeys(turn.speaker for turn in turns))
    if len(speakers) > max_speakers:
        raise Unsupported(
            f"turns: {len(speakers)} speakers, this variant has at most {max_speakers}",
            field="turns",
        )
    for label, voice_id in voices.items():
        field = f"voices.{label}"
        if label not in speakers:
            raise BadRequest(f"{field}: no turn has this speaker", field=field)
        check_voice_id(voice_id, field)
