"""Lets ``python -m unheard`` do what ``unheard`` does."""

from unheard.cli import main

if __name__ == "__main__":
    main()
