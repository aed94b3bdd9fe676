"""Who may call what: the guard in front of every route (contract § 10, "Who may call them")."""
