"""Ids of jobs."""

from datetime import UTC, datetime, timedelta

from rhapsode.installs.job_ids import JobIds

MOMENT = datetime(2026, 9, 18, 14, 2, 11, tzinfo=UTC)


def test_ids_sort_in_the_order_in_which_they_were_made_within_one_millisecond() -> None:
    ids = JobIds(lambda: MOMENT)
    made = [ids.next() for _ in range(2000)]
    assert made == sorted(set(made))


def test_ids_go_on_growing_where_the_clock_goes_back() -> None:
    moments = iter([MOMENT, MOMENT - timedelta(hours=1), MOMENT])
    ids = JobIds(lambda: next(moments))
    made = [ids.next() for _ in range(3)]
    assert made == sorted(made)


def test_ids_of_a_later_process_come_after_those_of_an_earlier_one() -> None:
    earlier = JobIds(lambda: MOMENT).next()
    later = JobIds(lambda: MOMENT + timedelta(milliseconds=1)).next()
    assert earlier < later


def test_an_id_is_26_letters_and_digits_that_need_no_quoting() -> None:
    job_id = JobIds(lambda: MOMENT).next()
    assert len(job_id) == 26
    assert job_id.isascii()
    assert job_id.isalnum()
    assert job_id == job_id.upper()
    assert job_id.startswith("01")
