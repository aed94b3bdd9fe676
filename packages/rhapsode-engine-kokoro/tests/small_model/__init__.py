"""Kokoro with graphs and voices that are small and random: all of it but the sound."""
