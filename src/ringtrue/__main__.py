"""`python -m ringtrue` and the `ringtrue` command."""

from ringtrue.cli.app import main

if __name__ == "__main__":
    main()
