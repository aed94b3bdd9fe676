"""Texts of many sentences (contract §§ 6 and 8)."""

from typing import Final

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.outcome import expect, failed, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import is_different
from rhapsode_conform.subject import SEED, Subject

LONG_CHARACTERS: Final = 600

_LEAST_SHARE: Final = 1 / 3
"""Of as long as its sentences sound one by one: what a long text sounds at the least. Read on, they
are shorter than alone; a text that is cut off is far shorter."""


async def streamed(subject: Subject, form: str) -> Answer:
    """Returns a long text, streamed; with the seed where it reproduces, so that one will do."""
    long_text = subject.texts.long(subject.variants[subject.variant], LONG_CHARACTERS)
    seed = await subject.seed()
    return await subject.heard(text=long_text, format=form, stream=True, seed=seed)


@check("6.speak.whole")
async def whole(subject: Subject) -> None:
    """A long text is as long as its sentences, and its last one is heard."""
    variant = subject.variants[subject.variant]
    count = subject.texts.sentences_in(variant, LONG_CHARACTERS)
    if count == 1:
        raise undecided(f"{variant.character_limit} characters are one sentence")
    seed = await subject.seed()
    one = await subject.sound(seed=seed)
    long = as_sound(await streamed(subject, subject.sampled))
    expect(
        long.duration_ms >= _LEAST_SHARE * count * one.duration_ms,
        f"a text of {count} sentences is spoken to its end",
        f"it sounds {long.duration_ms:.0f} ms, and one of them {one.duration_ms:.0f}",
    )
    if seed is None:
        return
    sentence = subject.texts.sentence(variant)
    but_one = " ".join([sentence] * (count - 1))
    shorter = await subject.sound(text=but_one, stream=True, seed=seed)
    is_heard = is_different(long, shorter)
    expect(is_heard, f"the last of {count} sentences is spoken", "the same audio without it")


@check("d.segments.mode-free", Need.SEED)
async def mode_free(subject: Subject) -> None:
    """Streamed or not, the same samples."""
    text = subject.texts.long(subject.variants[subject.variant], LONG_CHARACTERS)
    form = subject.sampled
    as_made = await streamed(subject, form)
    buffered = await subject.heard(text=text, format=form, stream=False, seed=SEED)
    one, other = as_sound(as_made), as_sound(buffered)
    why = "the same request with the same seed sounds the same, streamed or not"
    if await subject.repeats():
        expect(one.pcm == other.pcm, why)
    elif is_different(one, other):
        if not await subject.stands_apart(one, text=text, stream=False):
            raise undecided("a long text with one seed sounds otherwise each time")
        raise failed(why)
