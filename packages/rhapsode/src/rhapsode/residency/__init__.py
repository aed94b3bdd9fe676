"""Which model may be on the card, and who waits for room."""
