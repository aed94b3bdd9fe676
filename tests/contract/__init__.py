"""The contract as a manifest, and the tests that hold manifest and tests together."""
