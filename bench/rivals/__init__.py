"""Our Kokoro beside its library and beside the servers that people run instead of ours."""

from bench.rivals.measure import measure

__all__ = ["measure"]
