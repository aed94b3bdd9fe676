"""Web and mail addresses and names of files, with their punctuation in words."""

import re
from typing import Final
from urllib.parse import unquote

# Generic names, and countries whose code is no English word: "see.it" is two words.
_TOP_LEVEL: Final = (
    "com|org|net|edu|gov|mil|int|info|biz|dev|app|io|ai|xyz|tech|online|cloud|site|blog|shop|news"
    "|co|uk|de|fr|eu|ca|au|nz|jp|cn|ru|ch|nl|se|pl|es|br|tv|fm|gg|sh"
)
_FILES: Final = (
    "txt|md|rst|pdf|docx?|xlsx?|pptx?|csv|tsv|json|ya?ml|toml|xml|html?|css|js|ts|py|rs|go|java|cpp"
    "|hpp|rb|php|sql|sh|exe|dll|zip|tar|gz|png|jpe?g|gif|svg|webp|mp3|mp4|wav|flac|ogg|log|ini|cfg"
)
_URL = re.compile(
    rf"""(?:(?:https?|ftp)://|(?<![\w@.-])www\.)[^\s<>"]+
        |(?<![\w@./-])(?:[a-z0-9-]+\.)+(?:{_TOP_LEVEL})(?![\w@-])(?::\d+)?(?:/[^\s<>"]*)?""",
    re.VERBOSE | re.IGNORECASE,
)
_MAIL = re.compile(r"(?:mailto:)?(?<![\w.+-])([\w.+-]+)@([\w-]+(?:\.[\w-]+)+)")
_FILE = re.compile(rf"(?<![\w.])([\w-]*\w)\.({_FILES})(?![\w.]\w|\w)")
_SCHEME = re.compile(r"^(?:https?|ftp)://", re.IGNORECASE)

_NAMES: Final = {
    ".": "dot",
    "/": "slash",
    "-": "dash",
    "_": "underscore",
    "?": "question mark",
    "=": "equals",
    "&": "and",
    "#": "hash",
    "%": "percent",
    "+": "plus",
    "~": "tilde",
    ":": "colon",
    "@": "at",
}
_PART = re.compile(r"[^\W_]+|[./\-_?=&#%+~:@]")
_CLOSING: Final = ".,;:!?'\")]}>»”’…*_"


def with_addresses_spoken(text: str) -> str:
    """Returns `text` with "dot", "at" and "slash" where an address has their signs."""
    text = _MAIL.sub(lambda match: f"{_spoken(match[1])} at {_host(match[2])}", text)
    text = _URL.sub(_url, text)
    return _FILE.sub(lambda match: f"{match[1]} dot {_label(match[2])}", text)


def _url(match: re.Match[str]) -> str:
    address = match[0].rstrip(_CLOSING)
    if "(" in address and match[0][len(address) :].startswith(")"):
        address += ")"
    rest = match[0][len(address) :]
    host, slash, path = _SCHEME.sub("", address).partition("/")
    spoken = _host(host)
    if path:
        spoken += f" {_spoken(slash + unquote(path).rstrip('/'))}"
    return spoken + rest


def _host(host: str) -> str:
    return " dot ".join(_label(label) for label in host.split("."))


def _label(label: str) -> str:
    """Countries and `www` are spelt; the rest is read."""
    if label.lower() == "www":
        return "W W W"
    return label.upper() if len(label) == 2 else _spoken(label)


def _spoken(part: str) -> str:
    pieces: list[str] = _PART.findall(part)
    return " ".join(_NAMES.get(piece, piece) for piece in pieces)
