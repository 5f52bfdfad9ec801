"""How the web server runs: threads for short requests, no file of its own outside the project's data."""

import os

bind = os.environ.get("CABOCHON_BIND", "127.0.0.1:8000")
workers = int(os.environ.get("CABOCHON_WEB_WORKERS", "2"))
threads = int(os.environ.get("CABOCHON_WEB_THREADS", "4"))
worker_class = "gthread"
timeout = 30
graceful_timeout = 10
keepalive = 15
accesslog = None
control_socket_disable = True
limit_request_line = 4_094
