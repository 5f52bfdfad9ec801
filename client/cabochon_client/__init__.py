"""Sends the events of casino tables to Cabochon: each is on the disk before it is sent, and stored once, in order.

    from cabochon_client import Client

    with Client("cabochon-spool.db", "https://record.example", "cab_…") as client:
        client.start()
        session = client.session("deauville.C1.2026-11-19.1")
        session.append("session.opened", {"casino": "deauville", "table": "C1", …})

It knows the documents of the interface and nothing of the record's code.
"""

from cabochon_client.client import Client, Session, Status
from cabochon_client.events import EventError
from cabochon_client.spool import OutOfOrder, SessionRow, SpoolFull

__all__ = ["Client", "EventError", "OutOfOrder", "Session", "SessionRow", "SpoolFull", "Status"]
__version__ = "1.0.0"
