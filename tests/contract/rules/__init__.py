"""The rules themselves, a file for each section of the protocol."""
