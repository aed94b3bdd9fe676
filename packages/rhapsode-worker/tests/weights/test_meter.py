"""What a fetch says of its progress, and how often."""

import json
import logging

import pytest
from rhapsode_contract import LogLine
from rhapsode_http import JsonFormatter
from rhapsode_worker.weights import log_progress
from rhapsode_worker.weights.download import Pace
from rhapsode_worker.weights.meter import Meter
from rhapsode_worker.weights.source import SourceFailed


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_progress_is_told_at_most_twice_a_second_and_at_the_end() -> None:
    told: list[tuple[int, int]] = []
    clock = Clock()
    meter = Meter(100, lambda received, total: told.append((received, total)), clock)
    for received in range(100):
        meter.show(received)
        clock.now += 0.03125
    meter.finish()
    assert told == [*((n, 100) for n in range(0, 100, 16)), (100, 100)]


def test_the_end_is_told_once() -> None:
    told: list[int] = []
    meter = Meter(10, lambda received, _: told.append(received), Clock())
    meter.finish_file(10)
    meter.finish()
    assert told == [10]


def test_progress_never_goes_back_and_never_beyond_the_total() -> None:
    told: list[int] = []
    clock = Clock()
    meter = Meter(100, lambda received, _: told.append(received), clock)
    for current in (40, 10, 300):
        meter.show(current)
        clock.now += 1
    meter.finish_file(50)
    assert told == [40, 40, 100, 100]


def test_progress_is_a_log_line_that_the_core_reads(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        log_progress(3, 10)
    line = JsonFormatter().format(caplog.records[0])
    parsed = LogLine.model_validate_json(line)
    assert (parsed.event, parsed.received, parsed.total) == ("fetch", 3, 10)
    assert json.loads(line)["level"] == "info"


def test_a_transfer_that_crawls_is_noticed_at_the_end_of_a_window() -> None:
    clock = Clock()
    pace = Pace(1000, 10.0, clock)
    clock.now += 9
    pace.note(999)
    clock.now += 1
    pace.note(1)
    clock.now += 10
    with pytest.raises(SourceFailed) as caught:
        pace.note(999)
    assert caught.value.is_transient
