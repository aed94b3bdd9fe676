"""What formats are called on the wire."""

import pytest
from rhapsode_contract import FORMATS, Unsupported
from rhapsode_worker.encoding.formats import media_type
from rhapsode_worker.native_format import NativeFormat


@pytest.mark.contract("d.formats.types")
def test_every_format_has_its_media_type() -> None:
    assert [media_type(format, NativeFormat()) for format in FORMATS] == [
        "audio/wav",
        "audio/mpeg",
        "audio/opus",
        "audio/flac",
        "audio/L16; rate=24000; channels=1",
    ]


def test_pcm_says_its_rate_and_channels() -> None:
    native = NativeFormat(sample_rate=44_100, channels=2)
    assert media_type("pcm", native) == "audio/L16; rate=44100; channels=2"


@pytest.mark.parametrize("format", ["aac", "", "WAV"])
def test_another_format_is_unsupported(format: str) -> None:
    with pytest.raises(Unsupported) as caught:
        media_type(format, NativeFormat())
    assert caught.value.field == "format"
