"""An utterance as the generations that make it (contract § 8, "Long text, and who splits it")."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.segmenting import split
from rhapsode_worker.variant import Variant

_SEEDS = 2**64


@dataclass(frozen=True)
class Part:
    """One generation, and the pause behind it."""

    request: SpeakRequest

    silence_ms: int
    """Between it and the next part; 0 behind the last."""


def parts_of(request: SpeakRequest, variant: Variant) -> Iterator[Part]:
    """Yields what the adapter is asked, one generation at a time.

    A variant that declares no segment size, or splits by itself, gets its text whole. The parts
    depend on text and variant alone, never on whether the answer is streamed.
    """
    limit = variant.segment_characters
    if limit is None or variant.has_own_loop:
        yield Part(request, 0)
        return
    segments = split(
        request.text,
        limit,
        first_limit=variant.first_segment_characters,
        language=request.language,
    )
    for segment in segments:
        part = replace(
            request,
            text=segment.text,
            seed=nth_seed(request.seed, segment.index),
            index=segment.index,
            is_last=segment.after is None,
        )
        silence = segment.after.silence_ms(variant.joint_silence_ms) if segment.after else 0
        yield Part(part, round(silence))


def nth_seed(seed: int | None, index: int) -> int | None:
    """Returns the seed of segment `index`: the request's plus the index, within 64 bits."""
    if seed is None:
        return None
    return (seed + index + _SEEDS // 2) % _SEEDS - _SEEDS // 2
