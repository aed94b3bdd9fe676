"""The engine as a process, with its real weights, when something goes wrong around it."""
