"""The WSGI application: the fast path in front of Django."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

django = get_wsgi_application()

from audit.api.fast_path import FastPath  # noqa: E402  (Django is set up now)

application = FastPath(django)
