"""A dialogue off the wire, as the engine is asked it: every check, before the adapter is called."""

import rhapsode_contract as wire

from rhapsode_worker.dispatch import Utterance, every_dial, readable
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
    voices = body.voices or {}
    # As they came, so that the core counts the same; then as they are read.
    wire.check_conversation(body.turns, voices, variant, name)
    readable_turns = [
        wire.Turn(speaker=turn.speaker, text=readable(turn.text)) for turn in body.turns
    ]
    turns = wire.check_conversation(readable_turns, voices, variant, name)
    return Utterance(
        request=DialogueRequest(
            turns=tuple(Turn(turn.speaker, turn.text) for turn in turns),
            variant=name,
            voices=dict(voices),
            language=wire.check_language(body.language, variant),
            params=every_dial(body.params, variant),
            seed=body.seed,
        ),
        format=wire.check_format(body.format, capabilities.formats),
        is_streamed=bool(body.stream),
        max_seconds=variant.character_limit,
    )
