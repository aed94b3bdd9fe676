"""Log lines in both forms."""

import io
import json
import logging
import re
from collections.abc import Generator
from typing import Any

import pytest
from rhapsode_http import JsonFormatter, TerminalFormatter, configure_logs, request_id


@pytest.fixture(autouse=True)
def root_as_it_was() -> Generator[None]:
    """Puts the root logger back."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


class Terminal(io.StringIO):
    """A stream that people read."""

    def isatty(self) -> bool:
        return True


def logged(stream: io.StringIO, **extra: object) -> str:
    configure_logs("INFO", stream)
    logger = logging.getLogger("rhapsode.test")
    logger.debug("unseen")
    logger.warning("line one\nof %d", 2, extra=extra)
    return stream.getvalue()


def test_a_json_line_has_its_fields_and_is_one_line() -> None:
    token = request_id.set("r-1")
    text = logged(io.StringIO(), engine="tone", level="shadow")
    request_id.reset(token)
    assert text.count("\n") == 1
    line: dict[str, Any] = json.loads(text)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("ts"))
    assert line == {
        "level": "warning",
        "logger": "rhapsode.test",
        "message": "line one\nof 2",
        "requestId": "r-1",
        "engine": "tone",
    }


def test_a_json_line_outside_of_a_request_has_no_id() -> None:
    assert "requestId" not in json.loads(logged(io.StringIO()))


def test_a_value_that_json_lacks_is_written_as_text() -> None:
    assert json.loads(logged(io.StringIO(), path=re))["path"] == repr(re)


def test_a_terminal_gets_a_readable_line() -> None:
    text = logged(Terminal(), engine="tone")
    assert re.match(r"\d\d:\d\d:\d\d\.\d{3} warning rhapsode.test: line one", text)
    assert "engine=tone" in text


@pytest.mark.parametrize("formatter", [JsonFormatter(), TerminalFormatter()])
def test_an_exception_is_shown_with_its_traceback(formatter: logging.Formatter) -> None:
    stream = io.StringIO()
    configure_logs(logging.INFO, stream)
    logging.getLogger().handlers[0].setFormatter(formatter)
    try:
        raise ValueError("why")
    except ValueError:
        logging.getLogger("a").exception("failed")
    assert "Traceback" in stream.getvalue()
    assert "ValueError: why" in stream.getvalue()
