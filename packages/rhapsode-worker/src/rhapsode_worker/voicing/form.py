"""A multipart form, cut into its parts as its bytes arrive."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from rhapsode_contract import BadRequest
from rhapsode_contract.quoting import shown

_BOUNDARY_LIMIT_BYTES: Final = 70
"""RFC 2046, section 5.1.1."""

_PART_HEAD_LIMIT_BYTES: Final = 8 * 1024

_PLAIN_ENCODINGS: Final = frozenset({"", "7bit", "8bit", "binary"})
"""Of a part's contents; RFC 7578, section 4.7 has done away with the others."""


@dataclass(frozen=True)
class PartHead:
    """A part begins."""

    name: str

    filename: str | None
    """As the client sent it: anything. None for a field that is no file."""


@dataclass(frozen=True)
class PartData:
    """A piece of the part's contents."""

    data: bytes


@dataclass(frozen=True)
class PartEnd:
    """The part is whole."""


FormEvent = PartHead | PartData | PartEnd


class Form:
    """What has come of a form, and where it stands."""

    def __init__(self, content_type: str) -> None:
        """Args:
        content_type: The header of the request.

        Raises:
            BadRequest: It is not that of a multipart form.
        """
        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data":
            came = f"not {shown(content_type)}" if content_type else "and it is missing"
            raise BadRequest(f"the Content-Type must be multipart/form-data, {came}")
        boundary = options.get(b"boundary", b"")
        if not 0 < len(boundary) <= _BOUNDARY_LIMIT_BYTES:
            raise BadRequest(
                f"the Content-Type must name a boundary of 1 to {_BOUNDARY_LIMIT_BYTES} characters"
            )
        self._events: list[FormEvent] = []
        self._headers: dict[str, bytes] = {}
        self._header_name = b""
        self._header_value = b""
        self._head_bytes = 0
        self._has_ended = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin_part,
                "on_header_field": self._add_to_name,
                "on_header_value": self._add_to_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._end_head,
                "on_part_data": self._add_data,
                "on_part_end": self._end_part,
                "on_end": self._end,
            },
        )

    def feed(self, data: bytes) -> Iterator[FormEvent]:
        """Returns what a piece of the body completes, in order.

        Raises:
            BadRequest: The body is no form with this boundary.
        """
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise BadRequest(f"the body is no multipart form: {error}") from None
        events, self._events = self._events, []
        return iter(events)

    def finish(self) -> None:
        """Says that the body has ended.

        Raises:
            BadRequest: The form has not.
        """
        if not self._has_ended:
            raise BadRequest("the body ends before its multipart form does")

    def _begin_part(self) -> None:
        self._headers = {}
        self._head_bytes = 0

    def _add_to_name(self, data: bytes, start: int, end: int) -> None:
        self._count_head(end - start)
        self._header_name += data[start:end]

    def _add_to_value(self, data: bytes, start: int, end: int) -> None:
        self._count_head(end - start)
        self._header_value += data[start:end]

    def _count_head(self, size_bytes: int) -> None:
        self._head_bytes += size_bytes
        if self._head_bytes > _PART_HEAD_LIMIT_BYTES:
            raise BadRequest(
                f"a part's head may be {_PART_HEAD_LIMIT_BYTES:,} bytes long, and one is longer"
            )

    def _end_header(self) -> None:
        name = self._header_name.decode("ascii", errors="replace").lower()
        self._headers[name] = self._header_value
        self._header_name = self._header_value = b""

    def _end_head(self) -> None:
        header = self._headers.get("content-disposition", b"")
        disposition, options = parse_options_header(header.decode("latin-1"))
        name = options.get(b"name")
        if disposition != b"form-data" or name is None:
            raise BadRequest("a part of the form has no name")
        filename = options.get(b"filename")
        if filename is not None and b"\\" in header:
            # The parser takes what follows the last one, as for a browser that sent whole paths:
            # the name would no longer be what came.
            filename = header.partition(b"filename=")[2].strip(b'"')
        head = PartHead(_text(name), None if filename is None else _text(filename))
        encoding = self._headers.get("content-transfer-encoding", b"").decode("latin-1")
        if encoding.strip().lower() not in _PLAIN_ENCODINGS:
            raise BadRequest(
                f"{shown(head.name)}: is sent as {shown(encoding)}; send its bytes as they are"
            )
        self._events.append(head)

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(PartData(data[start:end]))

    def _end_part(self) -> None:
        self._events.append(PartEnd())

    def _end(self) -> None:
        self._has_ended = True


def _text(value: bytes) -> str:
    """Browsers send names in UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise BadRequest(f"a name in the form is not UTF-8: {shown(value)}") from None
