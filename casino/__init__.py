"""**The deployment.** Settings, addresses, workers, and the embedded services."""

from casino.celery import app as celery_app

__all__ = ["celery_app"]
