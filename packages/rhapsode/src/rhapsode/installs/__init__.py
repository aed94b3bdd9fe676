"""The catalog, and the jobs that install engines and fetch weights."""
