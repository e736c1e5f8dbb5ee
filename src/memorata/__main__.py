"""``python -m memorata``: the same as the command ``memorata``."""

from memorata.cli import main

if __name__ == "__main__":
    main()
