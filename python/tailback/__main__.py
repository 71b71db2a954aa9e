"""`python -m tailback` is the command `tailback`."""

import sys

from tailback.cli import main

if __name__ == "__main__":
    sys.exit(main())
