#!/usr/bin/env python3
"""Django's command line, for this project."""

import sys

from casino.manage import main

if __name__ == "__main__":
    sys.exit(main())
