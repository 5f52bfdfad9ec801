"""The configuration of gunicorn: threads for short requests, and no files outside the data folder."""

import gc
import os
from typing import Any

from casino import logs
from casino.web_reload import keep_serving, listen_late

bind = os.environ.get("CABOCHON_BIND", "127.0.0.1:8000")
workers = int(os.environ.get("CABOCHON_WEB_WORKERS", "2"))
threads = int(os.environ.get("CABOCHON_WEB_THREADS", "4"))
worker_class = "casino.web_worker.Worker"
timeout = 30
graceful_timeout = 10
keepalive = 15
accesslog = None
logconfig_dict = logs.configuration()
control_socket_disable = True
limit_request_line = 4_094


def on_starting(arbiter: Any) -> None:
    """Have a start take no connection before a worker serves, and a reload (HUP) keep the old workers until then."""
    listen_late()
    keep_serving(arbiter)


def post_worker_init(worker: Any) -> None:
    """Freeze the loaded objects: the garbage collector would traverse all of them every few requests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
