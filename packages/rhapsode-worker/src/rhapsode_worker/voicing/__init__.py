"""Voices that callers make: what arrives, how it is read as data, and where it is kept."""
