"""Log messages of every process: one a line, for people at a terminal and as JSON elsewhere.

structlog's messages and those of Django, Celery and uvicorn go one way, with the same fields: ``event``, ``level``,
``logger``, ``timestamp``, and what is bound in the context: ``request_id`` and ``stream`` of a request, ``task_id``,
``task`` and ``stream_id`` of a task. Names of persons, secrets and bodies are in none of them.
"""

from __future__ import annotations

import logging.config
import os
import sys
from contextlib import suppress
from typing import Any

import structlog
from structlog.typing import EventDict, Processor

from audit.evidence.verify import printable

SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
"""What is done with every message, whoever logs it."""


def _escape(logger: Any, method: str, event: EventDict) -> EventDict:
    """Escape what somebody else has written: at a terminal it would move the cursor, or hide what is there."""
    return {
        name: "\n".join(map(printable, value.split("\n"))) if isinstance(value, str) else value
        for name, value in event.items()
    }


def _console() -> structlog.dev.ConsoleRenderer:
    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


def configuration(*, celery_level: int | str | None = None) -> dict[str, Any]:
    """Return the configuration of the standard library's logging."""
    renderer: list[Any] = (
        [structlog.processors.format_exc_info, _escape, _console()]
        if sys.stderr.isatty()
        else [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
            lambda logger, method, line: printable(line),
        ]
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [*SHARED, structlog.stdlib.ExtraAdder(allow=("status_code",))],
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "audit": {"level": "INFO"},
            "casino": {"level": "INFO"},
            # Unhandled exceptions are logged with their traceback; a 404 is not an error.
            "django": {"handlers": [], "level": "WARNING", "propagate": True},
            "django.request": {"handlers": [], "level": "ERROR", "propagate": True},
            "django.server": {"handlers": [], "level": "INFO", "propagate": True},
            "axes": {"level": "CRITICAL"},  # its messages name whoever signs in
            "celery": {"level": celery_level or "WARNING"},
            "uvicorn": {"handlers": [], "level": "WARNING", "propagate": True},
        },
    }


def configure(*, celery_level: int | str | None = None) -> None:
    """Configure both kinds of logging in this process, and have warnings logged."""
    logging.config.dictConfig(configuration(celery_level=celery_level))
    logging.captureWarnings(True)
    worker = sys.modules.get("celery.apps.worker")
    if worker is not None:  # this process is a worker, which says what it does on a signal past its own logging
        worker.safe_say = write_at_once  # type: ignore[attr-defined]
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def write_at_once(message: str, stream: Any = None) -> None:
    """Write a message of a signal handler to standard error, wherever it was meant to go.

    A handler may interrupt a thread while that logs, so this neither locks nor buffers. What cannot be written is lost.
    """
    record = logging.LogRecord("celery.worker", logging.INFO, "", 0, message.strip(), None, None)
    handler = logging.getLogger().handlers[0]
    with suppress(OSError):
        os.write(2, f"{handler.format(record)}\n".encode())
