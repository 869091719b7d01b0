"""`python -m ringtrue.jobs FOLDER`."""

import sys

from ringtrue.jobs.command import main

if __name__ == "__main__":
    sys.exit(main())
