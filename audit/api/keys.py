"""What a key is: of which casino, on which tables, for how long."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.answer_schemas import ref
from audit.api.keyed_view import KeyedView, key_of
from audit.models import GamingTable, KeyScope


class OwnKey(KeyedView):
    """The key that the request is made with; whatever its scopes."""

    scope = tuple(KeyScope.values)

    @extend_schema(
        summary="What this key is",
        description="Its casino, whether that is a sandbox, the tables it reports on, its scopes, when it expires.",
        responses={200: ref("OwnKey")},
    )
    def get(self, request: Request) -> Response:
        key = key_of(request)
        tables = GamingTable.objects.filter(casino=key.casino_id).order_by("code")
        own = key.own_tables
        return Response(
            {
                "prefix": key.prefix,
                "name": key.name,
                "casino": key.casino.code,
                "time_zone": key.casino.time_zone,
                "sandbox": key.casino.is_sandbox,
                "tables": [table.code for table in tables if not own or table.pk in own],
                "every_table": not own,
                "scopes": key.scopes,
                "signs": key.public_key is not None,
                "expires_at": key.expires_at.isoformat() if key.expires_at else None,
            }
        )
