"""What a caller sends to be spoken (contract § 6)."""

from typing import Annotated, Final

from pydantic import Field

from rhapsode_contract.shape import Integer, Number, Request, at_most
from rhapsode_contract.vocabulary import Delivery

DURATION_HEADER: Final = "X-Rhapsode-Duration-Ms"
"""Milliseconds of audio: a header of a buffered answer, a trailer of a streamed one."""

Seed = Annotated[Integer, Field(ge=-(2**63), le=2**63 - 1)]
"""Any 64-bit number; an engine that wants fewer bits folds it."""

KEEP_ALIVE_SECONDS_MAX: Final = 100 * 365 * 24 * 60 * 60
"""A hundred years; a deadline much further off is past what a date can say."""

KeepAliveSeconds = Annotated[Integer, Field(ge=-1, le=KEEP_ALIVE_SECONDS_MAX)]
"""How long an idle model stays: -1 until the room is needed, 0 not at all."""

TURNS_MAX: Final = 1000
"""Most turns of a dialogue, and most voices named for it: far above what one take can hold."""

PARAMS_MAX: Final = 256
"""Most dials that a request may turn: far above what any engine has."""

Params = Annotated[dict[str, Number], at_most(PARAMS_MAX)]
"""Values for the variant's dials, by name."""


class SpeakRequest(Request):
    """The body of a worker's `POST /speak`: one text, one reader."""

    text: str
    """May hold cues, written `[laugh]`."""

    voice: str | None = None
    """Id of a voice of this engine; absent means the engine's default."""

    variant: str | None = None
    """Absent means the resident one, or the engine's default if none is."""

    format: str | None = None
    """From the engine's `formats`; absent means wav."""

    language: str | None = None
    """From the variant's `languages`; absent means the first of them."""

    delivery: Delivery | None = None
    """A word of the vocabulary; any other is refused, by the core too.

    The core drops a delivery that the variant does not claim (§ 6): the word has a meaning, and
    this engine cannot perform it. A word outside the closed set (§ 5) has none. Dropping it would
    hide a misspelling from its writer, which is the silent discard that § 6 refuses for dials. The
    leniency of § 9 is not meant here: it is a reader's, towards documents. What a caller may send
    follows from the `contract` that the server says it speaks.
    """

    params: Params | None = None

    seed: Seed | None = None

    stream: bool | None = None
    """True streams the audio as it is made; absent means false."""


class PublicSpeakRequest(SpeakRequest):
    """The body of the core's `POST /speak`."""

    engine: str

    keep_alive_seconds: KeepAliveSeconds | None = None
    """Never sent to a worker (§ 3)."""

    def for_worker(self, **changes: object) -> SpeakRequest:
        """Returns what the worker is asked, with `changes` to it."""
        own = self.model_dump(exclude={"engine", "keep_alive_seconds"}, exclude_none=True)
        return SpeakRequest.model_validate(own | changes)


class Turn(Request):
    """One speaker's line in a dialogue."""

    speaker: str
    """A label that the request makes up."""

    text: str


class DialogueRequest(Request):
    """The body of a worker's `POST /dialogue`: a conversation made in one pass."""

    turns: Annotated[tuple[Turn, ...], Field(min_length=1), at_most(TURNS_MAX)]

    voices: Annotated[dict[str, str], at_most(TURNS_MAX)] | None = None
    """Speaker label to voice id; a speaker left out gets one that the model picks."""

    variant: str | None = None

    format: str | None = None

    language: str | None = None

    params: Params | None = None

    seed: Seed | None = None

    stream: bool | None = None


class PublicDialogueRequest(DialogueRequest):
    """The body of the core's `POST /engines/{engine}/dialogue`."""

    keep_alive_seconds: KeepAliveSeconds | None = None
    """Never sent to a worker (§ 3)."""

    def for_worker(self, **changes: object) -> DialogueRequest:
        """Returns what the worker is asked, with `changes` to it."""
        own = self.model_dump(exclude={"keep_alive_seconds"}, exclude_none=True)
        return DialogueRequest.model_validate(own | changes)
