"""Forms with files, as `multipart/form-data` sends them."""

from dataclasses import dataclass
from typing import Final

_BOUNDARY: Final = "rhapsode-conform-5e1f0b7c"

FORM_TYPE: Final = f"multipart/form-data; boundary={_BOUNDARY}"


@dataclass(frozen=True)
class File:
    """A file in a form."""

    name: str

    content: bytes


def form(**parts: str | File) -> bytes:
    """Returns the body of a form, its parts in the order given."""
    body = b""
    for name, part in parts.items():
        head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"'
        content = part.encode() if isinstance(part, str) else part.content
        if isinstance(part, File):
            head += f'; filename="{part.name}"\r\nContent-Type: application/octet-stream'
        body += head.encode() + b"\r\n\r\n" + content + b"\r\n"
    return body + f"--{_BOUNDARY}--\r\n".encode()
