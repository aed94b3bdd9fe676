"""One utterance, from the request to the end of its answer."""

from functools import partial
from typing import Final

from rhapsode_contract import (
    Capabilities,
    ModelUnavailable,
    PublicDialogueRequest,
    PublicSpeakRequest,
)
from rhapsode_http import UpstreamUnreachable
from starlette.types import Send

from rhapsode.residency.manager import ResidencyManager
from rhapsode.speech.account import Account, SpeechMetrics
from rhapsode.speech.deadlines import DeadlinesOfEngines
from rhapsode.speech.dispatch import Dispatch, dispatch, dispatch_dialogue
from rhapsode.speech.relay import Audio, relay_stream, take_whole
from rhapsode.workers.clock import Clock
from rhapsode.workers.fleet import Fleet
from rhapsode.workers.session import Session
from rhapsode.workers.worker import Worker

_UNKNOWN_BYTES_A_SECOND: Final = 48_000 * 2 * 2
"""16-bit stereo at 48 kHz: more than any engine makes, for one that does not say."""
_HEADER_BYTES: Final = 64 * 1024
"""What a format may add to the samples of a short text."""


class Speech:
    """Speaks on whichever engine a request names."""

    def __init__(
        self,
        fleet: Fleet,
        residency: ResidencyManager,
        deadlines: DeadlinesOfEngines,
        metrics: SpeechMetrics,
    ) -> None:
        """Args:
        fleet: Who speaks.
        residency: Whose models may be loaded.
        deadlines: Of each engine's requests.
        metrics: Told of every utterance.
        """
        self._metrics = metrics
        self._fleet = fleet
        self._residency = residency
        self._deadlines = deadlines

    async def speak(self, body: PublicSpeakRequest, send: Send) -> None:
        """Answers a request with audio. Cancelling it is how the engine learns that nobody listens.

        Args:
            body: As the client sent it.
            send: ASGI's; nothing is sent where an error is raised, but for `StreamAborted`.

        Raises:
            RhapsodeError: No audio can be had, and why.
            ForeignError: The worker said so with a code that we do not know.
            StreamAborted: The audio broke off; the client's connection has to be cut.
        """
        worker = self._fleet.worker(body.engine)
        with self._metrics.utterance(worker.engine) as account:
            session = await worker.ensure_up()
            asked = dispatch(body, session.capabilities, worker.resident_variant)
            await self._answer(worker, asked, account, send)

    async def converse(self, engine: str, body: PublicDialogueRequest, send: Send) -> None:
        """The same for a dialogue: a conversation made in one pass.

        Raises:
            RhapsodeError: As `speak`.
            ForeignError: As `speak`.
            StreamAborted: As `speak`.
        """
        worker = self._fleet.worker(engine)
        with self._metrics.utterance(worker.engine) as account:
            session = await worker.ensure_up()
            asked = dispatch_dialogue(body, session.capabilities, worker.resident_variant)
            await self._answer(worker, asked, account, send)

    async def _answer(self, worker: Worker, asked: Dispatch, account: Account, send: Send) -> None:
        account.variant = asked.variant
        lease = self._residency.lease(worker.engine, asked.variant, asked.keep_alive_seconds)
        async with lease:
            audio = await self._speak_on(worker, asked, account, send)
        # The card is free for the next one while a slow client takes what is whole.
        if audio is not None:
            await audio.send(send)

    async def _speak_on(
        self, worker: Worker, asked: Dispatch, account: Account, send: Send
    ) -> Audio | None:
        """Speaks; on a second process where the first had gone before that was noticed."""
        for is_last in (False, True):
            session = await worker.ensure_loaded(asked.variant)
            try:
                return await self._perform(session, asked, account, send)
            except UpstreamUnreachable as error:
                failure = await session.explain(error)
                if is_last or not session.ended.is_set():
                    raise failure from None
        raise AssertionError("unreachable: the last try returns or raises")

    async def _perform(
        self, session: Session, asked: Dispatch, account: Account, send: Send
    ) -> Audio | None:
        """Returns the audio where it was asked for whole, else sends it as it comes."""
        clock = Clock()
        stage, seconds = self._patience(session.engine, asked)

        def begin() -> None:
            clock.start(seconds, partial(_too_late, session, stage, seconds, session.pieces_heard))

        with session.turns.take(begin):
            if asked.is_streamed:
                stall = self._deadlines.of(session.engine).stall_seconds
                await relay_stream(session, asked, clock, stall, account, send)
                return None
            limit = byte_limit(session.capabilities, asked)
            return await take_whole(session, asked, clock, limit, account)

    def _patience(self, engine: str, asked: Dispatch) -> tuple[str, float]:
        deadlines = self._deadlines.of(engine)
        if asked.is_streamed:
            return "first audio", deadlines.first_audio_seconds
        return "audio", deadlines.segment_seconds * asked.segments


def _too_late(session: Session, stage: str, seconds: float, heard: int) -> ModelUnavailable:
    session.note_silence(stage, seconds, heard)
    return ModelUnavailable(f"{stage}: not there within {seconds:g} s")


def byte_limit(capabilities: Capabilities, asked: Dispatch) -> int:
    """Returns how long a buffered answer may be: a second of samples for each character allowed."""
    current = capabilities.current
    if current is not None and current.variant == asked.variant:
        native = current.native_format
        bytes_a_second = native.sample_rate * native.channels * 2
    else:
        bytes_a_second = _UNKNOWN_BYTES_A_SECOND
    return asked.character_limit * bytes_a_second + _HEADER_BYTES
