"""Speaking: from a request to the bytes that answer it."""
