"""**The deployment.** Settings, URLs, processes, and the embedded servers."""

import atexit
import gc

from casino.celery import app as celery_app

__all__ = ["celery_app"]

# The interpreter looks for garbage in all that was loaded several times at its end: a third of what a command took.
atexit.register(gc.freeze)
