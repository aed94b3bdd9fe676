"""Workers as processes of their own: what only a process boundary can show."""
