"""Every native rate has one that the codec takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rhapsode_worker.encoding.rates import codec_rate_hz


@pytest.mark.parametrize(
    ("format", "native_hz", "codec_hz"),
    [
        ("opus", 24_000, 24_000),
        ("opus", 22_050, 24_000),
        ("opus", 44_100, 48_000),
        ("opus", 96_000, 48_000),
        ("mp3", 22_050, 22_050),
        ("mp3", 4_000, 8_000),
        ("mp3", 192_000, 48_000),
        ("flac", 11_111, 11_111),
    ],
)
def test_the_codec_runs_at_the_same_rate_or_the_next_above(
    format: str, native_hz: int, codec_hz: int
) -> None:
    assert codec_rate_hz(format, native_hz) == codec_hz


@given(st.sampled_from(["mp3", "opus", "flac"]), st.integers(4_000, 192_000))
def test_nothing_below_48_khz_is_lost(format: str, native_hz: int) -> None:
    rate_hz = codec_rate_hz(format, native_hz)
    assert rate_hz >= min(native_hz, 48_000)
    assert codec_rate_hz(format, rate_hz) == rate_hz
