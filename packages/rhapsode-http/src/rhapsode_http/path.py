"""The path of a request, as routes are matched against it."""

import re
from typing import Final
from urllib.parse import unquote

_ENCODED_SLASH: Final = re.compile("%(?=2[fF])")


def decoded_path(raw_path: bytes) -> str:
    """Returns a path with its percent-encoding taken out, but for that of a slash.

    An encoded slash is a character of a segment, not the end of one (RFC 3986 § 2.2). Were it
    decoded before the segments are told apart, `/voices/a%2Fb` would be another route than
    `/voices/a`, and nobody would say that `a/b` is no id. No id holds a `%` either.
    """
    return unquote(_ENCODED_SLASH.sub("%25", raw_path.decode("ascii")))
