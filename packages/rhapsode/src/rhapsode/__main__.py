"""`python -m rhapsode` is the `rhapsode` command."""

from rhapsode.cli import app

if __name__ == "__main__":
    app()
