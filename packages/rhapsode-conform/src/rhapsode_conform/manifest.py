"""Every promise by its id, and the rules of the contract that no check of ours can provoke."""

from collections.abc import Mapping
from typing import Final

from rhapsode_conform.promise import Promise
from rhapsode_conform.promises import PROMISES

MANIFEST: Final[Mapping[str, Promise]] = {promise.id: promise for promise in PROMISES}
"""The promises, in the order of the contract."""

UNSEEN: Final[Mapping[str, str]] = {}
"""Rules that a worker alone keeps and that we do not check: the id, and why a look from outside
cannot show them."""
