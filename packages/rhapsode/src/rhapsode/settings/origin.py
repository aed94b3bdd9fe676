"""Web origins and host names, as an operator writes them."""

import ipaddress
import re
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator

_LABEL: Final = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
_LONGEST_NAME: Final = 253


def _check_origin(text: str) -> str:
    """Returns an origin in the form a browser sends it: scheme and host in lower case."""
    complaint = "should be an origin such as https://host:8443, nothing after the host and port"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(complaint) from None
    host = parts.hostname or ""
    bare = f"{parts.scheme}://{parts.netloc}".lower()
    is_plain = text.lower() == bare and "@" not in parts.netloc and not parts.netloc.endswith(":")
    if parts.scheme not in {"http", "https"} or not is_plain or not is_host(host) or port == 0:
        raise ValueError(complaint)
    default = 443 if parts.scheme == "https" else 80
    # A browser leaves the scheme's own port out.
    return bare.removesuffix(f":{default}") if port == default else bare


def _check_host(text: str) -> str:
    if is_host(text):
        return text
    raise ValueError("should be an IP address without brackets, or a host name")


def is_host(text: str) -> bool:
    """Whether a text is an IP address without brackets, or a name that a resolver can be asked."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        labels = text.removesuffix(".").split(".")
        return len(text) <= _LONGEST_NAME and all(_LABEL.fullmatch(label) for label in labels)
    return True


Origin = Annotated[str, AfterValidator(_check_origin)]
"""An absolute http or https origin, such as `https://speech.example:8443`."""

Host = Annotated[str, AfterValidator(_check_host)]
"""An address or a name to listen on."""
