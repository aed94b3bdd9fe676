"""The core: one HTTP contract, many speech engines behind it, each in a process of its own."""
