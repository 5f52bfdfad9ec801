"""The WSGI application: request ids and the fast path in front of Django."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

django = get_wsgi_application()

from audit.api.fast_path import FastPath  # noqa: E402  (Django is set up now)
from audit.desk.page_checks import check_pages  # noqa: E402
from casino.request_ids import RequestIds  # noqa: E402

if faults := check_pages():
    raise SystemExit("\n".join(map(str, faults)))  # a page that anybody could see is not served

application = RequestIds(FastPath(django))
