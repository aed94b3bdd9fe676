"""Where two segments meet, and how long a reader pauses there."""

from enum import Enum
from typing import Final


class Joint(Enum):
    """What the text has at the place where it was cut."""

    SENTENCE = "sentence"
    """A sentence or a paragraph ends."""

    CLAUSE = "clause"
    """A comma, a colon, a dash, a parenthesis, the end of a line."""

    WORD = "word"
    """Nothing that anybody would pause at: the text was cut because it had to be."""

    def silence_ms(self, sentence_ms: float) -> float:
        """Returns the milliseconds of silence that belong at this joint.

        Args:
            sentence_ms: What the adapter declares for the end of a sentence, 0 or more. The other
                joints are a fixed share of it, so 0 means that no joint is silent.
        """
        return sentence_ms * _SHARES[self]


_SHARES: Final = {Joint.SENTENCE: 1.0, Joint.CLAUSE: 0.4, Joint.WORD: 0.0}
