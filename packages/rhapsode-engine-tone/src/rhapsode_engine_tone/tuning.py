"""What each thing that a request may name sounds like, in hertz and factors."""

from typing import Final

VOICES: Final = {"a4": 440.0, "a3": 220.0, "c5": 523.25, "e5": 659.26, "a5": 880.0}
"""Id of a voice to its frequency in hertz; the first is the default."""

CUES: Final = {
    "laugh": 5000,
    "chuckle": 5250,
    "sigh": 5500,
    "gasp": 5750,
    "cough": 6000,
    "clear throat": 6250,
}
"""Cue to its frequency in hertz, above what any voice reaches. Two of the vocabulary are missing,
so that a test can hear them go."""

LANGUAGES: Final = {"en": 1.0, "fr": 2.0}
"""Language to the factor on the frequency: French is an octave up."""

AMPLITUDES: Final = {None: 0.5, "hushed": 0.125, "frantic": 0.5}
"""Delivery to the peak, where 1.0 is full scale."""

FRANTIC_TREMOLO_HZ: Final = 12
"""How often a second a frantic tone swells; it shows as side bands at that distance."""

FRANTIC_TREMOLO_DEPTH: Final = 0.6

TREMOLO_HZ: Final = 6
"""How often a second the dial's tremolo swells."""

DETUNE_CENTS: Final = 20
"""The most a seed moves the tone, either way."""

TURN_PAUSE_MS: Final = 250
"""The silence between two turns of a dialogue."""
