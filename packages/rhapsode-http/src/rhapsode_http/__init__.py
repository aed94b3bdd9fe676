"""HTTP/1.1 as a Rhapsode core and its workers speak it, on both sides of a connection."""

from rhapsode_http.abort import StreamAborted
from rhapsode_http.address import Address, TcpAddress, UnixAddress, is_loopback, parse_address
from rhapsode_http.beside import beside, first_of
from rhapsode_http.body import (
    JSON_BODY_LIMIT_BYTES,
    UPLOAD_LIMIT_BYTES,
    body_pieces,
    check_body_head,
    read_body,
    read_json,
)
from rhapsode_http.client import Client
from rhapsode_http.connection import (
    UpstreamError,
    UpstreamProtocolError,
    UpstreamResponse,
    UpstreamTooLong,
    UpstreamTruncated,
    UpstreamUnreachable,
)
from rhapsode_http.envelope import error_response, exception_handlers
from rhapsode_http.lifespan import StartupFailed
from rhapsode_http.limits import Limits
from rhapsode_http.listener import ListenerLeft, while_connected
from rhapsode_http.logs import JsonFormatter, TerminalFormatter, configure_logs
from rhapsode_http.request_id import REQUEST_ID_HEADER, RequestIds, request_id
from rhapsode_http.server import Server
from rhapsode_http.sockets import BoundSockets, SocketError, bind
from rhapsode_http.streaming import UNBUFFERED, send_stream, send_whole

__all__ = [
    "JSON_BODY_LIMIT_BYTES",
    "REQUEST_ID_HEADER",
    "UNBUFFERED",
    "UPLOAD_LIMIT_BYTES",
    "Address",
    "BoundSockets",
    "Client",
    "JsonFormatter",
    "Limits",
    "ListenerLeft",
    "RequestIds",
    "Server",
    "SocketError",
    "StartupFailed",
    "StreamAborted",
    "TcpAddress",
    "TerminalFormatter",
    "UnixAddress",
    "UpstreamError",
    "UpstreamProtocolError",
    "UpstreamResponse",
    "UpstreamTooLong",
    "UpstreamTruncated",
    "UpstreamUnreachable",
    "beside",
    "body_pieces",
    "bind",
    "check_body_head",
    "configure_logs",
    "error_response",
    "exception_handlers",
    "first_of",
    "is_loopback",
    "parse_address",
    "read_body",
    "read_json",
    "request_id",
    "send_stream",
    "send_whole",
    "while_connected",
]
