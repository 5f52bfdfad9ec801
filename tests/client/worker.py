"""A worker without a broker: adjudicates whatever is dirty, until it is ended."""

from __future__ import annotations

import time

import django


def main() -> None:
    django.setup()

    from audit.adjudication.replay import advance
    from audit.event_store.read import dirty_streams
    from settlement import ENGINE_VERSION

    while True:
        for stream_id in dirty_streams(ENGINE_VERSION, limit=50):
            while (progress := advance(stream_id)) and progress.behind:
                continue
        time.sleep(0.2)


if __name__ == "__main__":
    main()
