"""The cases of other servers' users that a worker must stand without a core around it."""
