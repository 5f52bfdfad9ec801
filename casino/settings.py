"""Settings, from environment variables. The embedded default needs none; ``docs/deployment.md`` lists them all."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ
from django.utils.translation import gettext_lazy as _

from casino import logs
from casino.embedded.postgres import DATABASE, EmbeddedPostgres
from casino.embedded.valkey import EmbeddedValkey
from casino.paths import PROJECT, RESOURCES, data_folder
from casino.secret import secret_key

BASE_DIR = PROJECT
env = environ.Env()


def number(name: str, default: float) -> float:
    """Return a number of the environment; raise ``ValueError`` for what is none. Environ's own makes 19 of 1e9."""
    return float(env.str(name, default=str(default)))


DATA_DIR = data_folder()
"""All local data: the embedded servers' files, collected static files, the secret key."""

# Security

DEBUG = False
SECRET_KEY = env.str("CABOCHON_SECRET_KEY", default="") or secret_key(DATA_DIR)
# A process that signs nothing has this in its place (systemd, compose): no secret, and so neither a weak one.
SILENCED_SYSTEM_CHECKS = ["security.W009"] if SECRET_KEY == "signs-nothing-in-this-process" else []
# The local names stay allowed in addition to the configured ones: health checks use them.
ALLOWED_HOSTS = [*env.list("CABOCHON_ALLOWED_HOSTS", default=[]), "localhost", "127.0.0.1", "[::1]"]
HTTPS = env.bool("CABOCHON_HTTPS", default=False)
CSRF_TRUSTED_ORIGINS = env.list("CABOCHON_TRUSTED_ORIGINS", default=[])
CSRF_FAILURE_VIEW = "casino.errors.form_refused"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 12 * 60 * 60  # one shift, in seconds
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = ["^health/", "^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Networks of the proxies whose X-Forwarded-For says where a client is: see audit/access/client_address.py.
CABOCHON_TRUSTED_PROXIES = env.list("CABOCHON_TRUSTED_PROXIES", default=[])
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
PASSWORD_HASHERS = [
    "audit.access.password_hashing.OneLane",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AUTH_USER_MODEL = "audit.Officer"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "audit.desk.sign_in.provider.ProviderBackend",
]

# Sign-in: locked for a while after too many failures. A second factor is offered to all officers, and may be required.

AXES_FAILURE_LIMIT = 6
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # both: nobody is locked out from elsewhere
AXES_USERNAME_CALLABLE = "audit.desk.sign_in.known_browser.counted_name"
AXES_CLIENT_IP_CALLABLE = "audit.access.client_address.network_address"
AXES_DISABLE_ACCESS_LOG = True  # the audit trail has every sign-in; of the last one, see desk/sign_in/last_sign_in.py
AXES_SENSITIVE_PARAMETERS = [
    "username",
    "ip_address",
    "code",
    "recovery_code",
    "proof_password",
    "proof_code",
    "old_password",
]
AXES_RESET_ON_SUCCESS = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_TEMPLATE = "admin/locked.html"
CABOCHON_SECOND_FACTOR = env.str("CABOCHON_SECOND_FACTOR", default="offered")
OTP_TOTP_ISSUER = "Cabochon"
OTP_ADMIN_HIDE_SENSITIVE_DATA = True

# Single sign-on by OpenID Connect: docs/deployment.md.

CABOCHON_OIDC_ISSUER = env.str("CABOCHON_OIDC_ISSUER", default="")  # "": there is none
CABOCHON_OIDC_NAME = env.str("CABOCHON_OIDC_NAME", default="") or _("the casino’s single sign-on")
CABOCHON_OIDC_CLIENT_ID = env.str("CABOCHON_OIDC_CLIENT_ID", default="")
CABOCHON_OIDC_CLIENT_SECRET = env.str("CABOCHON_OIDC_CLIENT_SECRET", default="")
CABOCHON_OIDC_SCOPES = env.str("CABOCHON_OIDC_SCOPES", default="openid email")
CABOCHON_OIDC_ALGORITHM = env.str("CABOCHON_OIDC_ALGORITHM", default="RS256")
CABOCHON_OIDC_GROUPS = env.str("CABOCHON_OIDC_GROUPS", default="")  # "": groups are not looked at
CABOCHON_OIDC_SECOND_FACTOR = frozenset(env.list("CABOCHON_OIDC_SECOND_FACTOR", default=[]))
CABOCHON_LOCAL_SIGN_IN = env.bool("CABOCHON_LOCAL_SIGN_IN", default=True)

# Application

INSTALLED_APPS = [
    "audit.desk.apps.DeskConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_celery_beat",  # for a landed migration that depends on it
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "axes",
    "audit",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "casino.middleware.ContentSecurityPolicy",
    "casino.middleware.RefuseNul",
    "casino.middleware.RefuseTrace",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "audit.api.processor_budget.ProcessorBudget",
    "django_otp.middleware.OTPMiddleware",
    "audit.desk.sign_in.second_factor.SecondFactorRequired",
    "audit.desk.database_unavailable.DatabaseUnavailable",
    "audit.desk.archived.ArchivedStreams",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
    "audit.desk.writing_direction.WritingDirection",
]
ROOT_URLCONF = "casino.urls"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [RESOURCES / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

# Languages and time

USE_TZ = True
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = ["casino.formats"]
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("fr", _("French"))]
LOCALE_PATHS = [RESOURCES / "locale"]

# Database

PROCESS = env.str("CABOCHON_PROCESS", default="")
if env.str("DATABASE_URL", default=""):
    DATABASES = {"default": env.db_url("DATABASE_URL")}
    # The host is percent-encoded if it is the folder of a socket, as in libpq's URLs.
    DATABASES["default"]["HOST"] = unquote(DATABASES["default"].get("HOST", ""))
else:
    DATABASES = {
        "default": {
            "HOST": str(EmbeddedPostgres(DATA_DIR).sockets),
            "PORT": "5432",
            **dict(zip(("USER", "PASSWORD"), EmbeddedPostgres(DATA_DIR).known_account(PROCESS), strict=True)),
            "NAME": DATABASE,
        }
    }
if env.str("CABOCHON_NEAR_URL", default=""):  # any node of a cluster: docs/scaling.md
    DATABASES["near"] = env.db_url("CABOCHON_NEAR_URL")
    DATABASES["near"]["HOST"] = unquote(DATABASES["near"].get("HOST", ""))
# The server cancels a query whose client has long given up; before a task's own limit, which is the last resort.
STATEMENT_S = {
    "web": env.int("CABOCHON_STATEMENT_S", default=20),
    "worker": env.int("CABOCHON_WORKER_STATEMENT_S", default=240),
    "night": env.int("CABOCHON_NIGHT_STATEMENT_S", default=600),
}
for _database in DATABASES.values():
    _database["ENGINE"] = "audit.event_store.any_node"
    _options = _database.setdefault("OPTIONS", {})
    _options["prepare_threshold"] = 5  # psycopg's default, which Django takes back; for ``binary_copy``
    # Each thread of the web server keeps its connection open: opening one costs more than most requests.
    if PROCESS == "web":
        _database["CONN_MAX_AGE"] = 600
        _database["CONN_HEALTH_CHECKS"] = True  # replaces connections that died with the database
    # To compile the statement of the queue takes PostgreSQL three times as long as to run it over 2,000 incidents.
    _of_session = [_options.get("options", ""), "-c jit=off"]
    if PROCESS in STATEMENT_S:
        _of_session.append(f"-c statement_timeout={STATEMENT_S[PROCESS]}s")
    _options["options"] = " ".join(_of_session).strip()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The API of table systems

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["audit.api.authentication.KeyAuthentication"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_RATES": {"key": env.str("CABOCHON_RATE", default="6000/min")},
    "EXCEPTION_HANDLER": "audit.api.problems.handle",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Cabochon record",  # a generator calls its client so: cabochon-client is ours
    "DESCRIPTION": "The record of casino tables: events in, findings out.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVERS": [{"url": "/", "description": "The record that serves this document."}],
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "POSTPROCESSING_HOOKS": ["audit.api.schema.add_problems"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

# The transparency log: its origin, its signing keys, the folders to which its checkpoints are exported

CABOCHON_ORIGIN = env.str("CABOCHON_ORIGIN", default="cabochon.localhost/log")
CABOCHON_KEYS = Path(env.str("CABOCHON_KEYS", default=str(DATA_DIR / "keys")))
CABOCHON_CHECKPOINT_KEYS = env.str("CABOCHON_CHECKPOINT_KEYS", default="")  # "": checkpoint, in CABOCHON_KEYS
CABOCHON_CHECKPOINTS = env.list("CABOCHON_CHECKPOINTS", default=[str(DATA_DIR / "checkpoints")])
CABOCHON_EXPORT_S = number("CABOCHON_EXPORT_S", 60.0)
CABOCHON_WITNESSES = env.list("CABOCHON_WITNESSES", default=[])  # each "vkey url"
CABOCHON_WITNESS_EVERY = number("CABOCHON_WITNESS_EVERY", 60.0)

# Retention: of archived months, in years after the month, and the folder of their files; of surveillance video, in
# days; of refused requests, in days, and in rows and bytes a day and API key

CABOCHON_ARCHIVE = Path(env.str("CABOCHON_ARCHIVE", default=str(DATA_DIR / "archive")))
CABOCHON_RETENTION_YEARS = env.int("CABOCHON_RETENTION_YEARS", default=10)
CABOCHON_VIDEO_DAYS = env.int("CABOCHON_VIDEO_DAYS", default=7)
CABOCHON_ATTACHMENT_MB = env.int("CABOCHON_ATTACHMENT_MB", default=10)
FILE_UPLOAD_MAX_MEMORY_SIZE = (CABOCHON_ATTACHMENT_MB + 1) * 1024 * 1024  # a body is in memory: no file beside it
CABOCHON_QUARANTINE_DAYS = env.int("CABOCHON_QUARANTINE_DAYS", default=400)
CABOCHON_QUARANTINE_ROWS = env.int("CABOCHON_QUARANTINE_ROWS", default=10_000)
CABOCHON_QUARANTINE_BYTES = env.int("CABOCHON_QUARANTINE_BYTES", default=256 * 1024 * 1024)

# What an API key may open: streams of one gaming day, and months within a day that have no streams yet

CABOCHON_STREAMS_A_DAY = env.int("CABOCHON_STREAMS_A_DAY", default=200)
CABOCHON_MONTHS_A_DAY = env.int("CABOCHON_MONTHS_A_DAY", default=120)

# Server-Sent Events: open streams of a web process, a casino at most half of them; and seconds after which one ends

CABOCHON_FEED_STREAMS = env.int("CABOCHON_FEED_STREAMS", default=2)
CABOCHON_FEED_STREAM_S = number("CABOCHON_FEED_STREAM_S", 300.0)

# Webhooks: networks that are not public and may be sent to, over http too; without any, https to public addresses alone

CABOCHON_WEBHOOK_NETWORKS = env.list("CABOCHON_WEBHOOK_NETWORKS", default=[])

# Workers

BROKER_GIVEN = env.str("CELERY_BROKER_URL", default="")
CELERY_BROKER_URL = BROKER_GIVEN or EmbeddedValkey(DATA_DIR).url()
CABOCHON_AMQP_EXCHANGE = env.str("CABOCHON_AMQP_EXCHANGE", default="findings")  # where the broker is RabbitMQ
CABOCHON_REPLAY_TASK_S = env.int("CABOCHON_REPLAY_TASK_S", default=300)
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # else whoever reaches the broker has workers live on and take no task
CELERY_TASK_DEFAULT_QUEUE = "replay"
CELERY_TASK_ROUTES = {
    # Long tasks have a queue of their own, so that no stream waits behind them to be adjudicated.
    "audit.tasks.night_*": {"queue": "night"},
    "audit.tasks.run_job": {"queue": "night"},
    "audit.tasks.mail_*": {"queue": "night"},
    # What waits for receivers of others has threads of its own.
    "audit.tasks.notify_*": {"queue": "notify"},
    "audit.tasks.*": {"queue": "replay"},
}
CABOCHON_REPLAY_WORKERS = env.int("CABOCHON_REPLAY_WORKERS", default=2)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "casino.beat.Scheduler"
CELERY_WORKER_REDIRECT_STDOUTS = False
# Nights and jobs. A task over the soft limit fails and says so; one that does not even notice is killed with its
# process, and the sweeps begin it anew. A replay has limits of its own.
LONG_TASK_LIMITS = {
    "soft_time_limit": env.int("CABOCHON_TASK_S", default=900),
    "time_limit": env.int("CABOCHON_TASK_S", default=900) + 60,
}
CELERY_TASK_ANNOTATIONS = {
    **{
        f"audit.tasks.night_{name}": LONG_TASK_LIMITS
        for name in ("close", "reconcile", "session", "finish", "ledger", "mail", "sweep")
    },
    "audit.tasks.run_job": {
        "soft_time_limit": env.int("CABOCHON_JOB_S", default=6 * 3600),
        "time_limit": env.int("CABOCHON_JOB_S", default=6 * 3600) + 60,
    },
}
if CELERY_BROKER_URL.startswith("redis"):
    # A task that ran longer than this timeout would be started a second time; ours take steps of seconds.
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": 600,
        "unacked_restore_interval": 5,
        "socket_connect_timeout": 2,
        "socket_timeout": 30,
    }
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"connect_timeout": 2}
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "sweep": {
        "task": "audit.tasks.sweep",
        "schedule": number("CABOCHON_SWEEP_S", 5.0),
        "options": {"queue": "replay", "expires": 30},
    },
    "purge": {"task": "audit.tasks.purge_quarantine", "schedule": 6 * 3600, "options": {"queue": "replay"}},
    # Beat sends each casino's night at its cutoff (casino.beat); this one catches up on missed nights.
    "nights": {
        "task": "audit.tasks.night_sweep",
        "schedule": number("CABOCHON_NIGHTS_S", 600.0),
        "options": {"queue": "night", "expires": 600},
    },
    # A task on each queue shows that beat, broker, worker and database work together.
    **{
        f"heartbeat of {queue}": {
            "task": "audit.tasks.heartbeat",
            "schedule": 10.0,
            "kwargs": {"process": queue},
            "options": {"queue": queue, "expires": 30},
        }
        for queue in ("replay", "night", "notify")
    },
    # What a lost message has left, and webhooks whose pause is over.
    "notify": {
        "task": "audit.tasks.notify_sweep",
        "schedule": number("CABOCHON_NOTIFY_S", 2.0),
        "options": {"queue": "notify", "expires": 10},
    },
    "alerts": {
        "task": "audit.tasks.notify_alerts",
        "schedule": number("CABOCHON_ALERTS_S", 30.0),
        "options": {"queue": "notify", "expires": 30},
    },
    "cases": {
        "task": "audit.tasks.sweep_cases",
        "schedule": number("CABOCHON_CASES_S", 60.0),
        "options": {"queue": "night", "expires": 60},
    },
    "works": {  # background jobs
        "task": "audit.tasks.sweep_jobs",
        "schedule": number("CABOCHON_WORKS_S", 30.0),
        "options": {"queue": "replay", "expires": 30},
    },
}
for _name, _entry in CELERY_BEAT_SCHEDULE.items():  # by which the worker notes that it ran
    _entry["kwargs"] = {**_entry.get("kwargs", {}), "scheduled": _name}

# Mail: night reports, alerts, requests to video rooms, late cases. Without a mail server it goes to the worker's log.

vars().update(env.email_url("CABOCHON_EMAIL_URL", default="consolemail://"))
DEFAULT_FROM_EMAIL = env.str("CABOCHON_EMAIL_FROM", default="cabochon@localhost")

# The cache, which counts the requests of the rate limit. All web processes share it if there is a Redis or Valkey.

CACHE_URL = env.str("CABOCHON_CACHE_URL", default="" if BROKER_GIVEN else EmbeddedValkey(DATA_DIR).cache_url())
CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": CACHE_URL}
    if CACHE_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Parts of pages that are the same on every page, in each language: of this process, whose templates they are.
    "template_fragments": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "fragments"},
}

# Health: the ages in seconds beyond which a process, or what waits for it, counts as standing still

CABOCHON_BEAT_STALE_S = number("CABOCHON_BEAT_STALE_S", 60.0)
CABOCHON_SEQUENCER_STALE_S = number("CABOCHON_SEQUENCER_STALE_S", 60.0)
CABOCHON_REPLAY_STALE_S = number("CABOCHON_REPLAY_STALE_S", 120.0)
CABOCHON_NIGHT_STALE_S = number("CABOCHON_NIGHT_STALE_S", 1_200.0)
CABOCHON_NOTIFY_STALE_S = number("CABOCHON_NOTIFY_STALE_S", 120.0)
CABOCHON_WITNESS_STALE_S = number("CABOCHON_WITNESS_STALE_S", 3_600.0)
CABOCHON_FREE_MB = env.int("CABOCHON_FREE_MB", default=200)
CABOCHON_HEARTBEAT_FILE = env.str("CABOCHON_HEARTBEAT_FILE", default="")  # set by the supervisor

# Work of the web server: seconds of processor time that a key, an officer or an address has in each of its processes

CABOCHON_PROCESSOR_RATE = number("CABOCHON_PROCESSOR_RATE", 0.25)
CABOCHON_PROCESSOR_BURST_S = number("CABOCHON_PROCESSOR_BURST_S", 3.0)

# Metrics: without a token there are none. The proxy whose certificate is looked at, HOST:PORT. A line for each request

CABOCHON_METRICS_TOKEN = env.str("CABOCHON_METRICS_TOKEN", default="")
CABOCHON_TLS_ADDRESS = env.str("CABOCHON_TLS_ADDRESS", default="")
CABOCHON_ACCESS_LOG = env.bool("CABOCHON_ACCESS_LOG", default=False)

# Log messages: one a line, for people at a terminal and as JSON elsewhere

LOGGING = logs.configuration()
logs.configure()
