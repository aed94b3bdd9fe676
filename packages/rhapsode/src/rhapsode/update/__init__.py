"""Whether a newer release of rhapsode exists (contract § 9)."""
