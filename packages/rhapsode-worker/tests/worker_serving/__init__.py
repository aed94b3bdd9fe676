"""A worker's routes, served in this process on a Unix socket, over an engine made for tests."""
