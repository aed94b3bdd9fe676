"""Text cut into what one generation gets; public, for an adapter with a loop of its own."""

from rhapsode_worker.segmenting.joint import Joint
from rhapsode_worker.segmenting.segment import Segment
from rhapsode_worker.segmenting.splitter import split

__all__ = ["Joint", "Segment", "split"]
