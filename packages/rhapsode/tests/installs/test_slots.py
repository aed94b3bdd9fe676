"""Where virtualenvs lie."""

from pathlib import Path

import pytest
from rhapsode.installs.slots import Slots, is_same


@pytest.mark.contract("10.reinstall.slots")
def test_an_engine_has_two_slots_and_is_built_in_the_one_it_does_not_run_from(
    tmp_path: Path,
) -> None:
    slots = Slots(tmp_path)
    first, second = slots.of("tone")
    assert (first, second) == (tmp_path / "tone", tmp_path / "tone.alt")
    assert slots.free("tone", first) == second
    assert slots.free("tone", second) == first
    assert slots.free("tone", Path("/elsewhere/tone")) == first
    assert slots.free("tone", None) == first


def test_a_slot_that_is_reached_through_a_link_is_the_same_slot(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "tone").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(real)
    assert Slots(real).free("tone", link / "tone") == real / "tone.alt"
    assert is_same(link / "tone", real / "other" / ".." / "tone")


@pytest.mark.contract("10.uninstall.only-inside")
def test_only_what_lies_in_the_folder_is_removable(tmp_path: Path) -> None:
    venvs, outside = tmp_path / "venvs", tmp_path / "outside"
    venvs.mkdir()
    outside.mkdir()
    slots = Slots(venvs)
    odd = venvs / "by-hand"
    assert slots.removable("tone", [odd]) == [venvs / "tone", venvs / "tone.alt", odd]
    for elsewhere in (outside / "tone", venvs, tmp_path, venvs / ".." / "outside", venvs / ".."):
        assert not slots.contains(elsewhere)
    linked = venvs / "linked"
    linked.symlink_to(outside)
    assert slots.contains(linked)  # the link lies there
    assert not slots.contains(linked / "tone")  # and what it leads to does not
