"""The form that makes a voice, as clients send it."""

from .stage import Answer, Stage

BOUNDARY = "x-boundary-x"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"

File = tuple[str, bytes]


def part(name: str, value: str | File) -> bytes:
    """Returns one field, a file with its name and contents."""
    filename, contents = value if isinstance(value, tuple) else (None, value.encode())
    named = f'; filename="{filename}"' if filename is not None else ""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'
    return head.encode() + contents + b"\r\n"


def form(**fields: str | File) -> bytes:
    """Returns a whole form."""
    parts = b"".join(part(name, value) for name, value in fields.items())
    return parts + f"--{BOUNDARY}--\r\n".encode()


async def create(stage: Stage, **fields: str | File) -> Answer:
    """Asks for a voice."""
    return await stage.ask("POST", "/voices", form(**fields), content_type=MULTIPART)
