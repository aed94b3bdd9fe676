"""`python -m rhapsode_conform`."""

from rhapsode_conform.cli import main

if __name__ == "__main__":
    main()
