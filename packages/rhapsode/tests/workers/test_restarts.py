"""What follows an end that nobody asked for: values in, values out."""

import pytest
from rhapsode.workers.restarts import Reconnects, Rest, Restarts

PAUSES = (0.0, 0.5, 1.0)
DECAY_SECONDS = 300.0


def restarts(most: int = 5) -> Restarts:
    return Restarts(most, DECAY_SECONDS, PAUSES)


@pytest.mark.contract("2.crash.restarted")
def test_the_first_restart_is_made_at_once_and_each_later_one_after_a_longer_pause() -> None:
    policy = restarts()
    pauses = [policy.after_end(1, is_hopeless=False).seconds for _ in range(5)]
    assert pauses == [0.0, 0.5, 1.0, 1.0, 1.0]
    assert policy.count == 5


@pytest.mark.contract("d.crash.failed")
def test_one_more_than_the_most_is_a_failure_until_the_decay_is_over() -> None:
    policy = restarts(most=2)
    for _ in range(2):
        assert not policy.after_end(1, is_hopeless=False).is_failure
    failed = Rest(DECAY_SECONDS, is_failure=True)
    assert policy.after_end(1, is_hopeless=False) == failed
    # The start that was tried after the decay has failed too.
    assert policy.after_end(1, is_hopeless=False) == failed
    assert policy.count == 3


def test_no_restarts_at_all_is_a_failure_at_once() -> None:
    assert restarts(most=0).after_end(1, is_hopeless=False).is_failure


def test_a_start_that_this_machine_had_no_room_for_is_tried_for_ever_uncounted() -> None:
    policy = restarts(most=1)
    rests = [policy.after_end(0, is_hopeless=False, is_starved=True) for _ in range(4)]
    assert [rest.seconds for rest in rests] == [0.0, 0.5, 1.0, 1.0]
    assert all(rest.may_be_cut_short and not rest.is_failure for rest in rests)
    assert policy.count == 0
    assert policy.after_end(1, is_hopeless=False) == Rest(0.0)
    assert policy.after_end(0, is_hopeless=False, is_starved=True).seconds == 0.0


def test_a_calm_stretch_earns_them_back_too() -> None:
    policy = restarts(most=1)
    policy.after_end(1, is_hopeless=False)
    policy.note_calm()
    assert policy.count == 0
    assert policy.after_end(1, is_hopeless=False) == Rest(0.0)


def test_a_hopeless_start_is_not_made_again_by_itself_and_counts() -> None:
    policy = restarts(most=2)
    assert policy.after_end(0, is_hopeless=True) == Rest(None)
    assert policy.after_end(0, is_hopeless=True) == Rest(None)
    assert policy.after_end(0, is_hopeless=True).is_failure


def test_a_link_is_tried_for_ever_and_whoever_asks_does_not_wait_for_the_pause() -> None:
    policy = Reconnects(PAUSES)
    rests = [policy.after_end(0, is_hopeless=False) for _ in range(50)]
    assert [rest.seconds for rest in rests[:4]] == [0.0, 0.5, 1.0, 1.0]
    assert all(rest.may_be_cut_short and not rest.is_failure for rest in rests)
    assert policy.count == 0


def test_only_a_link_that_was_up_counts_as_lost_and_is_then_tried_at_once() -> None:
    policy = Reconnects(PAUSES)
    for _ in range(4):
        policy.after_end(0, is_hopeless=False)
    assert policy.after_end(20, is_hopeless=False).seconds == 0.0
    assert policy.count == 1
    policy.note_calm()
    assert policy.count == 0


def test_a_worker_that_is_not_the_one_that_was_meant_is_tried_on_demand_only() -> None:
    assert Reconnects(PAUSES).after_end(0, is_hopeless=True) == Rest(None)
