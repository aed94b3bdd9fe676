"""What is counted of each utterance: how it ended, how soon it was heard, how long it was."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Final

import anyio
from prometheus_client import CollectorRegistry, Counter, Histogram
from rhapsode_contract import ForeignError, RhapsodeError
from rhapsode_http import StreamAborted

_FIRST_BYTE_SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_ABORTED: Final = "aborted"
"""The audio broke off after some of it had been sent."""
_LEFT: Final = "left"
"""The client went before its answer was whole."""
_FOREIGN: Final = "foreign"
"""A worker refused with a code that we do not know. Its own word could be anything."""


class Account:
    """One utterance, while it is being answered."""

    def __init__(self) -> None:
        self.variant = ""
        """The effective one; empty while it is not known."""
        self.began = time.monotonic()
        self.first_byte_seconds: float | None = None
        self.audio_seconds = 0.0

    def note_first_byte(self) -> None:
        """Called when the engine's audio begins to come."""
        self.first_byte_seconds = time.monotonic() - self.began

    def note_duration(self, milliseconds: bytes) -> None:
        """Takes what the worker says of the audio's length; what is no number is not counted."""
        if milliseconds.isdigit():
            self.audio_seconds = int(milliseconds) / 1000


class SpeechMetrics:
    """Counts utterances."""

    def __init__(self, registry: CollectorRegistry) -> None:
        labels = ("engine", "variant")
        requests = Counter(
            "rhapsode_requests",
            "Requests for speech by how they ended: ok, the code of an error, left by the client, "
            "or aborted after some of the audio was sent.",
            (*labels, "outcome"),
            registry=registry,
        )
        first_byte = Histogram(
            "rhapsode_first_byte_seconds",
            "From a request to the first byte of its audio, waits and loads included.",
            labels,
            buckets=_FIRST_BYTE_SECONDS,
            registry=registry,
        )
        audio = Counter(
            "rhapsode_audio_seconds",
            "Seconds of audio made.",
            labels,
            registry=registry,
        )
        # Looking a child up costs more than counting in it; there are few, all of our own naming.
        self._requests = cache(requests.labels)
        self._first_byte = cache(first_byte.labels)
        self._audio = cache(audio.labels)

    @contextmanager
    def utterance(self, engine: str) -> Generator[Account]:
        """Counts what becomes of one utterance, which is made within the block."""
        account = Account()
        outcome = "ok"
        try:
            yield account
        except RhapsodeError as error:
            outcome = error.code.value
            raise
        except ForeignError:
            outcome = _FOREIGN
            raise
        except StreamAborted:
            outcome = _ABORTED
            raise
        except anyio.get_cancelled_exc_class():
            outcome = _LEFT
            raise
        except BaseException:
            outcome = "internal"
            raise
        finally:
            self._requests(engine, account.variant, outcome).inc()
            if account.first_byte_seconds is not None:
                self._first_byte(engine, account.variant).observe(account.first_byte_seconds)
            if account.audio_seconds:
                self._audio(engine, account.variant).inc(account.audio_seconds)
