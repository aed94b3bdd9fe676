"""Nothing is heard where one segment meets the next: cases.md 34."""

import math
from pathlib import Path

import anyio
import numpy as np
import numpy.typing as npt
import pytest
from rhapsode_contract import FORMATS

from .adapters import sine
from .alone import alone

pytestmark = pytest.mark.anyio

TEXT = "One sentence of some words. " * 8
EDGE_SECONDS = 0.2
"""What is left out at both ends, where a codec hears a sine begin and end."""
LOSSY = {"mp3", "opus"}
HEADS = {"wav": b"RIFF", "flac": b"fLaC", "opus": b"OpusHead"}


async def decoded(body: bytes, format: str) -> npt.NDArray[np.float64]:
    """Returns samples in [-1, 1], at the engine's own rate."""
    pcm = body
    if format != "pcm":
        command = ["ffmpeg", "-v", "error", "-i", "-", "-ar", str(sine.RATE_HZ), "-f", "s16le", "-"]
        done = await anyio.run_process(command, input=body)
        assert not done.stderr
        pcm = done.stdout
    return np.frombuffer(pcm, "<i2").astype(np.float64) / 32768


def check_sine(samples: npt.NDArray[np.float64], format: str) -> None:
    """Holds a recording against the sine that it should be."""
    edge = round(EDGE_SECONDS * sine.RATE_HZ) if format in LOSSY else 0
    heard = samples[edge : len(samples) - edge]
    steepest = sine.AMPLITUDE * 2 * math.sin(math.pi * sine.HERTZ / sine.RATE_HZ)
    # A lossless codec rounds both samples of a step; a lossy one adds a little noise of its own.
    allowed = steepest * 1.1 if format in LOSSY else steepest + 2 / 32768
    assert np.abs(np.diff(heard)).max() <= allowed, format
    assert 0.9 * sine.AMPLITUDE < np.abs(heard).max() < 1.1 * sine.AMPLITUDE, format


@pytest.mark.slow
@pytest.mark.contract("8.split.joint", "8.encoding.all-formats")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_case_34_a_sine_goes_through_every_joint_as_it_was_by_one_encoder(
    stream: bool, short_path: Path
) -> None:
    async with alone(short_path, adapter="sine") as worker:
        encoders = worker.children()
        for format in FORMATS:
            answer = await worker.speak(text=TEXT, format=format, stream=stream)
            assert answer.status == 200
            assert worker.children() == encoders  # the one that was warm, and it is kept
            check_sine(await decoded(answer.body, format), format)
            if format in HEADS:
                assert answer.body.count(HEADS[format]) == 1
