"""Who is in front of whom."""

from contextlib import ExitStack

from rhapsode.workers.turns import Turns


def test_a_turn_begins_when_every_earlier_one_has_ended() -> None:
    turns = Turns()
    begun: list[str] = []
    with turns.take(lambda: begun.append("a")):
        with ExitStack() as b, ExitStack() as c:
            b.enter_context(turns.take(lambda: begun.append("b")))
            c.enter_context(turns.take(lambda: begun.append("c")))
            assert begun == ["a"]
            b.close()  # left while it waited: nobody's turn begins
            assert begun == ["a"]
            with turns.take(lambda: begun.append("d")):
                c.pop_all().close()
        assert begun == ["a"]
    assert begun == ["a"]
    assert len(turns) == 0


def test_the_next_in_line_follows_the_first() -> None:
    turns = Turns()
    begun: list[str] = []
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(turns.take(lambda: begun.append("first")))
        second.enter_context(turns.take(lambda: begun.append("second")))
        first.close()
        assert begun == ["first", "second"]
