"""Kokoro with more languages behind the worker protocol."""

from importlib.metadata import version

from rhapsode_engine_kokoro import KokoroEngine
from rhapsode_engine_kokoro.phrases import PhonemesOf
from rhapsode_worker import LicenseFields

from rhapsode_engine_kokoro_espeak.pronunciation import VOICES, Pronunciation


class KokoroEspeakEngine(KokoroEngine):
    """All that Kokoro's engine does, and five languages more, which eSpeak NG reads.

    An engine of its own, because `code` is the licence of what a process runs: whoever wants
    English alone need not take the GPL. English is here too, by the other engine's front end, so
    that one resident model speaks every language.
    """

    id = "kokoro-espeak"
    display_name = "Kokoro with eSpeak NG"
    license = LicenseFields(
        code=f"GPL-3.0-or-later AND {KokoroEngine.license.get('code')}",
        weights="Apache-2.0",
        weights_commercial_use=True,
        notes=(
            "eSpeak NG (GPL-3.0-or-later) makes Spanish, French, Hindi, Italian and Portuguese"
            " text into phonemes, within this process; English text goes through hibari-tts"
            " (Apache-2.0). The engine kokoro speaks English without eSpeak NG."
            " https://huggingface.co/hexgrad/Kokoro-82M"
        ),
    )
    adapter_version = version("rhapsode-engine-kokoro-espeak")
    reads = (*KokoroEngine.reads, *VOICES)
    # `mul` is BCP 47 for several languages: what is meant where a request names none.
    general_tags = ("mul", *KokoroEngine.general_tags)
    front_end_versions = (*KokoroEngine.front_end_versions, version("espeakng-loader"))

    def pronunciations(self) -> dict[str, PhonemesOf]:
        """Adds those of eSpeak NG."""
        added = {language: Pronunciation(language).phonemes_of for language in VOICES}
        return super().pronunciations() | added
