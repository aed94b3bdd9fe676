"""Worker processes: how one is started, spoken to, and ended for certain."""
