"""``python -m recollect``: the same as the command ``recollect``."""

from recollect.cli import main

if __name__ == "__main__":
    main()
