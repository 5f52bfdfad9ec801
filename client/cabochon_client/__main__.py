"""``python -m cabochon_client``: the same as ``cabochon``."""

import sys

from cabochon_client.cli import main

if __name__ == "__main__":
    sys.exit(main())
