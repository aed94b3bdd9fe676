"""How the property tests of this package run."""

from hypothesis import settings

# Tests assert nothing about measured time, and a busy machine is slow.
settings.register_profile("contract", deadline=None)
settings.load_profile("contract")
