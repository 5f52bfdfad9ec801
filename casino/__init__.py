"""**The deployment.** Settings, URLs, processes, and the embedded servers."""

from casino.celery import app as celery_app

__all__ = ["celery_app"]
