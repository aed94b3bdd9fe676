"""The public routes: parse, call, answer."""
