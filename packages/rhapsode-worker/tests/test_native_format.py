"""The engine's own format: what it allows, and its arithmetic."""

import pytest
from rhapsode_worker.native_format import NativeFormat


def test_the_default_is_24_khz_mono() -> None:
    assert NativeFormat() == NativeFormat("pcm_s16le", 24_000, 1)


@pytest.mark.parametrize(
    "wrong",
    [{"encoding": "pcm_f32le"}, {"sample_rate": 3_999}, {"sample_rate": 192_001}]
    + [{"channels": 0}, {"channels": 3}],
)
def test_what_no_encoder_can_take_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        NativeFormat(**wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_stereo_takes_twice_the_bytes() -> None:
    native = NativeFormat(sample_rate=16_000, channels=2)
    assert native.bytes_per_frame == 4
    assert native.bytes_per_second == 64_000


@pytest.mark.parametrize(
    ("n_bytes", "duration_ms"), [(0, 0), (48_000, 1000), (48_001, 1000), (22, 0), (24, 1), (72, 2)]
)
def test_a_duration_is_rounded_to_the_nearest_millisecond(n_bytes: int, duration_ms: int) -> None:
    assert NativeFormat().duration_ms(n_bytes) == duration_ms
