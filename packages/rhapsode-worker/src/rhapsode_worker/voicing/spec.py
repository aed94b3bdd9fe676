"""The opaque token that changes whenever a voice's rendering would (contract § 7)."""

import hashlib
from typing import Final

_DIGEST_BYTES: Final = 10


def mint_spec(voice_id: str, *parts: str | bytes | None) -> str:
    """Returns a voice's spec: the id, and a digest of all that its rendering depends on.

    Args:
        voice_id: Of the voice.
        parts: Such as the reference's contents or their hash, the adapter's version, the model's,
            the variant. Their order counts, and None is not the empty text.
    """
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in (voice_id, *parts):
        data = part.encode() if isinstance(part, str) else part
        # The length before each: `ab`, `c` and `a`, `bc` are different voices.
        digest.update(b"-" if data is None else b"%d:" % len(data) + data)
    return f"{voice_id}@{digest.hexdigest()}"
