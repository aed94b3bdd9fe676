"""Headers of WAV files, read back by the standard library."""

import io
import wave

import pytest
from rhapsode_worker.encoding.wav import streamed_wav_header, wav_header
from rhapsode_worker.native_format import NativeFormat

NATIVE = NativeFormat(sample_rate=22_050, channels=2)


def test_an_exact_header_parses_with_nothing_left_over() -> None:
    samples = bytes(range(200))
    with wave.open(io.BytesIO(wav_header(NATIVE, len(samples)) + samples)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (22_050, 2, 2)
        assert file.readframes(1000) == samples


def test_a_streamed_header_says_that_nobody_knows() -> None:
    header = streamed_wav_header(NATIVE)
    assert header[:4] == b"RIFF"
    assert header[4:8] == header[40:44] == b"\xff\xff\xff\xff"
    assert len(header) == 44


@pytest.mark.parametrize("data_bytes", [3, 0xFFFF_FFFC])
def test_half_a_frame_and_more_than_fits_are_refused(data_bytes: int) -> None:
    with pytest.raises(ValueError, match="bytes"):
        wav_header(NATIVE, data_bytes)
