"""The requests of ``matrix.md``: what is sent for each of its rows, to a page of casino A or B."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.casework import actions, information
from audit.models import CaseAction, Finding, NightReport, Officer
from audit.reconciliation import wording
from tests.audit.access.two_casinos import DAY_BEFORE, PASSWORD, Site, World
from tests.audit.notifications.browsers import Browser
from tests.audit.reconciliation.played import DAY

Form = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: a method at an address, as Django has it, and what the request is if there are several."""

    method: str
    address: str
    what: str

    def __str__(self) -> str:
        return f"{self.method} /{self.address}" + (f" [{self.what}]" if self.what else "")


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: its path, what it sends, and the casino whose row it names; None for a page that names no row.

    ``is_read``: a POST that writes nothing even where it is let through. ``refused_by``: the status that says that it
    was refused, where that is another than for any page.
    """

    path: str
    form: Form = field(default_factory=dict)
    site: Site | None = None
    json: Any = None
    is_read: bool = False
    refused_by: int = 403


Builder = Callable[[World, Site, str], Ask]
"""Makes the request of a row: to whose casino, by whom."""

ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")


def requests_of(row: Row, world: World, who: str) -> list[Ask]:
    """Return the requests of a row: one about each casino, or those of a page that names no row."""
    key = (row.method, row.address, row.what)
    if key in ANYWHERE:
        return ANYWHERE[key](world, who)
    if key in AT:
        return [_at_site(AT[key](world, site, who), site) for site in world.sites]
    if row.method == "GET" and not ARGUMENT.search(row.address) and "(" not in row.address:
        return [Ask(f"/{row.address}"), *(Ask(f"/{row.address}?{urlencode(each)}") for each in _filters(row, world))]
    return [Ask(_of_row(row.address, site), site=site) for site in world.sites]


def _at_site(ask: Ask, site: Site) -> Ask:
    return replace(ask, site=site)


def _of_row(address: str, site: Site) -> str:
    """Return the address of a page of one row of a casino: the row of its model."""
    model = address.split("/")[2]
    return "/" + ARGUMENT.sub(str(site.rows[model].pk), address)


def _filters(row: Row, world: World) -> Iterator[dict[str, Any]]:
    """Yield queries of a page that ask for what is of one casino."""
    for site in world.sites:
        if row.address == "admin/audit-trail/":
            yield {"casino": site.casino.code}
        elif row.address.startswith("admin/audit/") and row.address.count("/") == 3:
            yield from FILTERS.get(row.address.split("/")[2], lambda site: [])(site)


FILTERS: dict[str, Callable[[Site], list[Form]]] = {
    "finding": lambda site: [
        {"table": site.table.pk, "standing": "all"},
        {"q": site.stream.name},
        {"queue": "mine"},
    ],
    "loggedstream": lambda site: [{"table": site.table.pk}, {"q": site.stream.name}],
    "ledgerprocess": lambda site: [{"casino__id__exact": site.casino.pk, "ended": "all"}],
    "nightreport": lambda site: [{"casino__id__exact": site.casino.pk, "versions": "all"}],
    "quarantined": lambda site: [
        {"casino__id__exact": site.casino.pk},
        {"key__id__exact": site.tenant.key.pk},
        {"q": site.quarantined.stream},
    ],
    "failedrun": lambda site: [{"casino__id__exact": site.casino.pk}],
    "gamingtable": lambda site: [{"casino__id__exact": site.casino.pk}],
    "apikey": lambda site: [{"casino__id__exact": site.casino.pk}],
    "webhook": lambda site: [{"casino__id__exact": site.casino.pk}],
    "nightsubscriber": lambda site: [{"casino__id__exact": site.casino.pk}],
    "person": lambda site: [{"casino__id__exact": site.casino.pk}, {"q": site.person.name}],
    "officer": lambda site: [{"q": site.colleague.username}],
    "registerentry": lambda site: [{"casino__id__exact": site.casino.pk}],
    "complaint": lambda site: [{"casino__id__exact": site.casino.pk, "answered": "no"}],
    "correction": lambda site: [{"casino__id__exact": site.casino.pk}, {"state": "waiting"}],
    "job": lambda site: [{"kind__exact": "export"}],
    "paymentorder": lambda site: [{"casino__id__exact": site.casino.pk, "state__exact": "ordered"}],
    "listing": lambda site: [{"casino__id__exact": site.casino.pk, "kind__exact": "watch"}, {"q": site.listed.code}],
}

DESK = "admin/audit/"
FINDING, NIGHT, JOB, PERSON, OFFICER = (
    f"{DESK}{model}/" for model in ("finding", "nightreport", "job", "person", "officer")
)
CHANGE, DELETE, ROW = ("<path:object_id>/change/", "<path:object_id>/delete/", "<path:object_id>/")
STREAMS = "api/v1/streams/<str:stream>"
NIGHTS = "api/v1/reconciliations/<str:casino>/<str:gaming_day>"

SIGNED: Form = {"proof_password": PASSWORD}
"""What an act that is signed carries."""


def about(proposed: Finding) -> Form:
    """Return what the form of a decision about a proposed closing has, whatever is decided."""
    assert proposed.case is not None
    return {"proposal": str(actions.proposal_of(proposed.case)), **SIGNED}


AT: dict[tuple[str, str, str], Builder] = {}
"""Requests about a row of a casino."""

ANYWHERE: dict[tuple[str, str, str], Callable[[World, str], list[Ask]]] = {}
"""Requests that name no row, or rows of both casinos at once."""


def at(method: str, address: str, what: str = "") -> Callable[[Builder], Builder]:
    def add(builder: Builder) -> Builder:
        AT[method, address, what] = builder
        return builder

    return add


def one(method: str, address: str, what: str = "", path: str | None = None, **form: Any) -> None:
    """Add a request that is the same for everybody."""
    ANYWHERE[method, address, what] = lambda world, who: [Ask(f"/{address if path is None else path}", form)]


def posted(address: str, form: Callable[[World, Site], Form], what: str = "", path: str | None = None) -> None:
    """Add a POST about a row of a casino. ``path`` is the address where it has arguments beside the row's number."""

    def build(world: World, site: Site, who: str) -> Ask:
        return Ask(_of_row(path or address, site), form(world, site))

    AT["POST", address, what] = build


# Signing in and one's own account

one("GET", "", "leads to the desk")
one("GET", "admin/login/")
one("POST", "admin/login/", username="chief", password=PASSWORD)
one("GET", "admin/login/code/", "leads to the password")
one("POST", "admin/login/code/", "leads to the password", code="000000")
one("POST", "admin/logout/")
ANYWHERE["POST", "i18n/setlang/", ""] = lambda world, who: [Ask("/i18n/setlang/", {"language": "fr"}, is_read=True)]
one(
    *("POST", "admin/password_change/"),
    old_password=PASSWORD,
    new_password1="another-horse-10",
    new_password2="another-horse-10",
)
for _method, _form in (
    ("GET", {}),
    ("POST", {"new_password1": "another-horse-10", "new_password2": "another-horse-10"}),
):
    AT[_method, "admin/link/<str:token>/", "whoever has the link"] = lambda world, site, who, form=_form: Ask(
        f"/admin/link/{site.token}/", form
    )


def _second_factor(world: World, who: str) -> list[Ask]:
    device = TOTPDevice.objects.filter(user=world.people[who], confirmed=False).first() if who in world.people else None
    return [Ask("/admin/second-factor/", {"code": f"{totp(device.bin_key):06}" if device else "000000"})]


ANYWHERE["POST", "admin/second-factor/", ""] = _second_factor
one("POST", "admin/notifications/", "subscribe a browser", **Browser().form)

# Pages of every model, and of none

one("GET", "admin/^(?P<app_label>audit)/$", "the settings", path="admin/audit/")
one("GET", "admin/approve/")
AT["GET", "admin/approve/closing/<int:pk>/", "where another officer proposed it"] = lambda world, site, who: Ask(
    f"/admin/approve/closing/{site.proposed.pk}/"
)
AT["POST", "admin/approve/closing/<int:pk>/", "approve"] = lambda world, site, who: Ask(
    f"/admin/approve/closing/{site.proposed.pk}/", {"decision": "approve", **about(site.proposed)}
)
one("GET", "admin/connections/")
AT["POST", "admin/connections/<slug:name>/try/", "the video room"] = lambda world, site, who: Ask(
    "/admin/connections/video/try/", {"casino": str(site.rows["casecontacts"].casino_id)}
)
for _method, _what in (("GET", "where another officer proposed it"), ("POST", "approve")):
    AT[_method, "admin/approve/batch/<int:pk>/", _what] = lambda world, site, who: Ask(
        f"/admin/approve/batch/{site.proposed.pk}/",
        {
            "decision": "approve",
            "chosen": [f"{site.proposed.case_id}:{actions.proposal_of(site.proposed.case)}"],
            **SIGNED,
        },
    )
one("GET", "admin/inbox/")
AT["POST", "admin/inbox/", "a hand-over note"] = lambda world, site, who: Ask(
    "/admin/inbox/", {"casino": str(site.casino.pk), "text": "two tables are still open"}
)
one("GET", "admin/search/", "the palette", path="admin/search/?q=t1")
AT["POST", "admin/state/proof/", "the file"] = lambda world, site, who: Ask(
    "/admin/state/proof/", form={"stream": site.rows["loggedstream"].name, "seq": "1"}, is_read=True
)
AT["GET", "admin/state/proof/", "of an event"] = lambda world, site, who: Ask(
    "/admin/state/proof/?" + urlencode({"stream": site.rows["loggedstream"].name, "seq": "1"})
)
one("GET", "admin/first-run/", "what a newcomer looks at first")
one("GET", "admin/first-run/progress/", "how far the simulated month is")
ANYWHERE["POST", "admin/casino/", "the casino that lists show, in this session"] = lambda world, who: [
    Ask("/admin/casino/", form={"casino": ""}, is_read=True)  # it sets what the session keeps
]
ANYWHERE["POST", "admin/first-run/dismiss/", "the overview first, in this browser"] = lambda world, who: [
    Ask("/admin/first-run/dismiss/", is_read=True)  # it sets a cookie
]
one("GET", "admin/rules/<slug:name>/", path="admin/rules/payout-missing/")
one("GET", "admin/rules/law/<str:text_id>/", path="admin/rules/law/fr-art-55-7/")
one("GET", "admin/(?P<url>.*)$", "an address that there is not", path="admin/audit/nothing/")
one(
    *("GET", "admin/autocomplete/", "officers to choose from"),
    path="admin/autocomplete/?"
    + urlencode({"app_label": "audit", "model_name": "nightsubscriber", "field_name": "officer", "term": ""}),
)
for _model in (
    *("finding", "complaint", "correction", "job", "nightreport", "nightsubscriber", "person", "failedrun"),
    *(
        "quarantined",
        "ledgerprocess",
        "paymentorder",
        "listing",
        "casino",
        "gamingtable",
        "apikey",
        "deadline",
        "casecontacts",
    ),
    *("officer", "loggedstream", "registerentry", "whatif", "webhook", "deadletter", "informationsigning"),
):
    ANYWHERE["GET", f"{DESK}{_model}/{ROW}", "leads to the page of the row"] = lambda world, who, model=_model: [
        Ask(f"/{DESK}{model}/{site.rows[model].pk}/") for site in world.sites
    ]
FORMATS = ("CSV", "XLSX", "PDF")
for _what in FORMATS:
    _format = _what.lower()
    for _address in (f"{FINDING}export/<slug:format>/", f"{PERSON}export/<slug:format>/"):
        one("POST", _address, _what, path=_address.replace("<slug:format>", _what.lower()))
    ANYWHERE["POST", "admin/audit-trail/export/<slug:format>/", _what] = lambda world, who, format=_format: [
        Ask(f"/admin/audit-trail/export/{format}/?casino={site.casino.code}") for site in world.sites
    ]


def action(model: str, name: str, what: str, rows: Callable[[Site], Any], **form: Any) -> None:
    """Add an action of a list, with rows of both casinos selected."""

    def build(world: World, who: str) -> list[Ask]:
        selected = [str(rows(site).pk) for site in world.sites]
        return [
            Ask(f"/{DESK}{model}/", {"action": name, "_selected_action": selected, "index": "0", **form}),
            Ask(f"/{DESK}{model}/", {"action": name, "_selected_action": selected, "select_across": "1", **form}),
        ]

    ANYWHERE["POST", f"{DESK}{model}/", f"action: {what}, of both casinos"] = build


# Findings and cases

action("finding", "take_selected", "take the selected", lambda site: site.finding)
action(
    *("finding", "propose_selected", "propose the selected", lambda site: site.taken),
    outcome="confirmed",
    reason="seen",
)
action("apikey", "revoke", "revoke the selected", lambda site: site.spare_key)
for _method in ("GET", "POST"):
    AT[_method, f"{PERSON}held/<slug:role>/<int:casino_id>/<path:code>/", ""] = lambda world, site, who: Ask(
        f"/{PERSON}held/player/{site.casino.pk}/{site.person.code}/"
    )
action("deadletter", "send_again", "send the selected again", lambda site: site.dead_letter)
action("deadline", "delete_selected", "delete the selected", lambda site: site.deadline, post="yes")
action("nightsubscriber", "delete_selected", "delete the selected", lambda site: site.subscriber, post="yes")
posted(f"{FINDING}<int:pk>/evidence/", lambda world, site: {})
one("POST", f"{FINDING}views/save/", name="mine", query="severity__exact=major")
one("POST", f"{FINDING}take-next/", "the most urgent, of A where both are one’s casinos", path=f"{FINDING}take-next/")
ANYWHERE["POST", f"{FINDING}undo/", "actions of colleagues"] = lambda world, who: [
    Ask(f"/{FINDING}undo/", {"actions": ",".join(str(pk) for pk in CaseAction.objects.values_list("pk", flat=True))})
]
AT["POST", f"{FINDING}views/<int:pk>/delete/", "a colleague’s"] = lambda world, site, who: Ask(
    f"/{FINDING}views/{site.view.pk}/delete/"
)
PDF_FILE = b"%PDF-1.7\n%%EOF\n"
AT["POST", f"{FINDING}<int:pk>/attach/", "a PDF"] = lambda world, site, who: Ask(
    f"/{FINDING}{site.finding.pk}/attach/", {"file": SimpleUploadedFile("statement.pdf", PDF_FILE)}
)
for _end, _what in (("", "the file"), ("erase/", "with a reason")):
    AT["POST", f"{FINDING}<int:pk>/attachment/<int:number>/{_end}", _what] = lambda world, site, who, end=_end: Ask(
        f"/{FINDING}{site.finding.pk}/attachment/{site.attachment.pk}/{end}", {"reason": "the court asked", **SIGNED}
    )
CASES: dict[str, tuple[Callable[[Site], Any], Callable[[Site], Form]]] = {
    "take": (lambda site: site.finding, lambda site: {}),
    "assign": (lambda site: site.finding, lambda site: {"assignee": site.colleague.username}),
    "release": (lambda site: site.taken, lambda site: {}),
    "comment": (lambda site: site.finding, lambda site: {"reason": "seen"}),
    "propose": (lambda site: site.taken, lambda site: {"reason": "seen", "outcome": "confirmed"}),
    "withdraw": (lambda site: site.proposed, lambda site: {}),
    "answer": (lambda site: site.taken, lambda site: {"reason": "a second ball was in the wheel"}),
    "approve": (lambda site: site.proposed, lambda site: about(site.proposed)),
    "send_back": (lambda site: site.proposed, lambda site: {"reason": "which camera?", **about(site.proposed)}),
    "ask_video": (lambda site: site.taken, lambda site: {}),
    "reopen": (lambda site: site.closed, lambda site: {"reason": "another camera"}),
    "hold": (lambda site: site.finding, lambda site: {"reason": "the prosecutor asked"}),
    "lift_hold": (lambda site: site.held, lambda site: {"reason": "settled"}),
    "join": (lambda site: site.finding, lambda site: {"reason": "again and again"}),
    "link": (lambda site: site.taken, lambda site: {"reason": "again and again"}),
    "leave": (lambda site: site.taken, lambda site: {}),
    "unlink": (lambda site: site.taken, lambda site: {}),
}
for _name, (_finding, _case_form) in CASES.items():
    AT["POST", f"{FINDING}<int:pk>/case/<slug:name>/", _name] = (
        lambda world, site, who, name=_name, finding=_finding, form=_case_form: Ask(
            f"/{FINDING}{finding(site).pk}/case/{name}/", form(site)
        )
    )

# Nights


def other(world: World, site: Site) -> Site:
    return world.b if site is world.a else world.a


def night_page(end: str, night: Callable[[Site], NightReport] = lambda site: site.night) -> Builder:
    return lambda world, site, who: Ask(f"/{NIGHT}{night(site).pk}/{end}")


SESSION = f"{NIGHT}<int:pk>/session/<signed:stream_id>/"
AT["GET", SESSION, ""] = lambda world, site, who: Ask(
    f"/{NIGHT}{site.night.pk}/session/{site.night_stream.pk}/?line=stakes"
)
AT["GET", SESSION, "a session of the other casino"] = lambda world, site, who: Ask(
    f"/{NIGHT}{site.night.pk}/session/{other(world, site).night_stream.pk}/"
)
AT["GET", f"{NIGHT}<int:pk>/figure/<str:figure>/", ""] = night_page("figure/D/")
for _what, _name in {"PDF": "en.pdf", "XLSX": "all.xlsx", "CSV": "sessions.csv", "JSON": "all.json"}.items():
    AT["GET", f"{NIGHT}<int:pk>/file/<str:name>.<str:format>", _what] = night_page(f"file/{_name}")
posted(f"{NIGHT}<int:pk>/sign/", lambda world, site: SIGNED)
posted(f"{NIGHT}<int:pk>/again/", lambda world, site: {})
AT["POST", f"{NIGHT}<int:pk>/sign/", "with an exception"] = lambda world, site, who: Ask(
    f"/{NIGHT}{site.uncounted.pk}/sign/", {**SIGNED, **{f"reason-{code}": "lost" for code in wording.NEEDS}}
)
AGAIN_DAY = f"{NIGHT}again/<int:casino_id>/<str:gaming_day>/"
AT["POST", AGAIN_DAY, ""] = lambda world, site, who: Ask(
    f"/{NIGHT}again/{site.casino.pk}/{site.failed_night.gaming_day}/"
)
MONTH = f"{NIGHT}month/<int:casino_id>/<int:year>/<int:number>/<str:currency>"
for _end in ("/", ".xlsx"):
    AT["GET", f"{MONTH}{_end}", ""] = lambda world, site, who, end=_end: Ask(
        f"/{NIGHT}month/{site.casino.pk}/2026/11/EUR{end}"
    )

# The evidence ledger

LEDGER = f"{DESK}ledgerprocess/"
posted(f"{LEDGER}<int:pk>/apart/", lambda world, site: {"reason": "levelled"})
posted(f"{LEDGER}<int:pk>/video/", lambda world, site: {}, "of a process that has not asked")
AT["GET", "admin/audit/person/player/<int:casino_id>/<path:code>/", ""] = lambda world, site, who: Ask(
    f"/admin/audit/person/player/{site.casino.pk}/{site.person.code}/"
)
AT["GET", "admin/audit/person/money/<int:casino_id>/<str:gaming_day>/<path:code>/", ""] = lambda world, site, who: Ask(
    f"/admin/audit/person/money/{site.casino.pk}/{DAY}/{site.person.code}/"
)
AT["GET", "admin/audit/loggedstream/at/", "leads to the table at a clock time"] = lambda world, site, who: Ask(
    f"/admin/audit/loggedstream/at/?table={site.table.pk}&clock=20:00"
)
AT["GET", "admin/audit/person/croupier/<int:casino_id>/<path:code>/", ""] = lambda world, site, who: Ask(
    f"/admin/audit/person/croupier/{site.casino.pk}/max/"
)
PATTERN = "open incidents of one rule, worked on as one"
AT["POST", "admin/audit/person/pattern/<int:casino_id>/<path:code>/", PATTERN] = lambda world, site, who: Ask(
    f"/admin/audit/person/pattern/{site.casino.pk}/{site.finding.croupier}/",
    {"rule": site.finding.rule, "month": f"{site.finding.gaming_day:%Y-%m}", "reason": "again and again"},
)
AT["GET", f"{LEDGER}exchanges/<int:casino_id>/<str:gaming_day>/", ""] = lambda world, site, who: Ask(
    f"/{LEDGER}exchanges/{site.casino.pk}/{DAY}/"
)

# Runs, jobs, what-if runs

posted(f"{DESK}failedrun/<int:pk>/try-again/", lambda world, site: {})
one("POST", "admin/state/<slug:name>/try-again/", path="admin/state/ledger/try-again/")
START = f"{JOB}start/<slug:kind>/"
posted(START, lambda world, site: {"casino": site.casino.code}, "verification", f"{JOB}start/verify/")
posted(
    *(START, lambda world, site: {"casino": site.casino.code, "name": "asked"}, "what-if run", f"{JOB}start/what_if/")
)
one("POST", START, "verification of every casino", path=f"{JOB}start/verify/", casino="*")
posted(f"{JOB}<int:pk>/stop/", lambda world, site: {}, "a colleague’s")
AT["GET", f"{JOB}<int:pk>/file/", "one’s own"] = lambda world, site, who: Ask(
    f"/{JOB}{_export(world, site, who)}/file/"
)
AT["GET", f"{JOB}<int:pk>/file/", "another’s"] = lambda world, site, who: Ask(
    f"/{JOB}{world.exports['director' if who != 'director' else 'second', site.letter].pk}/file/"
)


ANYWHERE["GET", f"{JOB}{CHANGE}", "exports of one’s own"] = lambda world, who: [
    Ask(f"/{JOB}{_export(world, site, who)}/change/") for site in world.sites
]


def _export(world: World, site: Site, who: str) -> int:
    return int(world.exports[who if who in world.people else "officer", site.letter].pk)


WHAT_IF = f"{DESK}whatif/<int:pk>/difference.<str:format>"
for _what, _format in {"CSV": "csv", "XLSX": "xlsx", "JSON": "json"}.items():
    AT["GET", WHAT_IF, _what] = lambda world, site, who, format=_format: Ask(
        f"/{DESK}whatif/{site.what_if.pk}/difference.{format}"
    )
for _key, _end in {
    ("GET", f"{DESK}whatif/{CHANGE}", "of every casino"): "/change/",
    ("GET", WHAT_IF, "CSV, of every casino"): "/difference.csv",
}.items():
    ANYWHERE[_key] = lambda world, who, end=_end: [Ask(f"/{DESK}whatif/{world.what_if_of_all.pk}{end}")]

posted(f"{DESK}whatif/<int:pk>/promote/", lambda world, site: {})

# Persons, equipment


def _person(**changed: Any) -> Callable[[World, Site], Form]:
    form = {"kind": "croupier", "name": "Berta", "card_or_licence": "", "note": "", **changed}
    return lambda world, site: {"casino": str(site.casino.pk), "code": "p77", **form}


posted(f"{PERSON}add/", _person(), path=f"{PERSON}add/")
posted(f"{PERSON}{CHANGE}", lambda world, site: {"kind": "player", "name": "Berta", "card_or_licence": "", "note": ""})
posted(f"{PERSON}{DELETE}", lambda world, site: {"reason": "asked for it"})
posted(
    f"{PERSON}import/",
    lambda world, site: {
        "casino": str(site.casino.pk),
        "file": SimpleUploadedFile("persons.csv", b"code,kind,name\np78,player,Carl\n"),
    },
)
CASINO = {
    "time_zone": "Europe/Paris",
    "cutoff": "06:00",
    "priority_threshold": "100",
    "unclaimed_days": "365",
    "false_questions": "1",
    "reports_from": "15:00",
    "reports_until": "04:00",
    "silent_after_min": "30",
}
one("POST", f"{DESK}casino/add/", code="third", name="Third", **CASINO)
posted(f"{DESK}casino/{CHANGE}", lambda world, site: {"name": "Renamed", **CASINO})
posted(f"{DESK}gamingtable/add/", lambda world, site: {"casino": str(site.casino.pk), "code": "T9"})
posted(f"{DESK}gamingtable/{CHANGE}", lambda world, site: {"name": "By the window", "does_not_report": "on"})
posted(f"{DESK}apikey/{CHANGE}", lambda world, site: {})
posted(
    f"{DESK}apikey/add/",
    lambda world, site: {"casino": str(site.casino.pk), "name": "new", "scopes": ["streams:read"]},
    "makes a key",
)
posted(f"{DESK}apikey/<int:pk>/rotate/", lambda world, site: {})
WEBHOOK = {"name": "new", "url": "https://hooks.example/x", "severities": ["critical"]}
posted(f"{DESK}webhook/add/", lambda world, site: {"casino": str(site.casino.pk), **WEBHOOK}, "creates a webhook")
posted(f"{DESK}webhook/{CHANGE}", lambda world, site: {**WEBHOOK, "is_active": "on"})
posted(f"{DESK}webhook/<int:pk>/rotate/", lambda world, site: {})
posted(f"{DESK}webhook/<int:pk>/test/", lambda world, site: {})
posted(f"{DESK}deadline/add/", lambda world, site: {"casino": str(site.casino.pk), "severity": "info", "hours": "5"})
posted(f"{DESK}deadline/{CHANGE}", lambda world, site: {"hours": "5"})
posted(f"{DESK}deadline/{DELETE}", lambda world, site: {"post": "yes"})
for _method, _end, _deadline_form in (
    ("GET", CHANGE, {}),
    ("POST", CHANGE, {"hours": "5"}),
    ("POST", DELETE, {"post": "yes"}),
):
    ANYWHERE[_method, f"{DESK}deadline/{_end}", "of the installation"] = (
        lambda world, who, end=_end, form=_deadline_form: [
            Ask(f"/{DESK}deadline/{end.replace('<path:object_id>', str(world.installation_deadline.pk))}", form)
        ]
    )


def _contacts(world: World, site: Site) -> Form:
    return {"video_room": "video@x.example", "deputy": str(site.colleague.pk)}


posted(
    f"{DESK}casecontacts/add/",
    lambda world, site: {**_contacts(world, site), "casino": str(site.casino.pk)},
    "of a casino that has them already",
)
posted(f"{DESK}casecontacts/{CHANGE}", _contacts)


def _subscriber(officer: Callable[[Site], Officer]) -> Callable[[World, Site], Form]:
    return lambda world, site: {
        "casino": str(site.casino.pk),
        "officer": str(officer(site).pk),
        "language": "en",
        "receives_alerts": "on",
    }


posted(f"{DESK}nightsubscriber/add/", _subscriber(lambda site: site.reviewer))
posted(f"{DESK}nightsubscriber/{CHANGE}", _subscriber(lambda site: site.colleague))
posted(f"{DESK}nightsubscriber/{DELETE}", lambda world, site: {"post": "yes"})

# Officers

posted(
    f"{OFFICER}add/",
    lambda world, site: {
        "username": "new",
        "first_name": "",
        "last_name": "",
        "email": "new@x.example",
        "casino": str(site.casino.pk),
        "role": "auditor",
    },
)
DO = f"{OFFICER}<int:pk>/do/<slug:name>/"
ACTIONS: dict[str, tuple[Callable[[Site], Officer], Callable[[Site], Form]]] = {
    "link": (lambda site: site.colleague, lambda site: {}),
    "role": (lambda site: site.colleague, lambda site: {"casino": str(site.casino.pk), "role": "second"}),
    "remove-role": (lambda site: site.colleague, lambda site: {"casino": str(site.casino.pk)}),
    "second-factor": (lambda site: site.colleague, lambda site: {}),
    "email": (lambda site: site.colleague, lambda site: {"email": "other@x.example"}),
    "name": (lambda site: site.colleague, lambda site: {"first_name": "Ada", "last_name": ""}),
    "deactivate": (lambda site: site.colleague, lambda site: {"reason": "left"}),
    "reactivate": (lambda site: site.gone, lambda site: {}),
}
for _name, (_officer, _officer_form) in ACTIONS.items():
    AT["POST", DO, _name] = lambda world, site, who, name=_name, officer=_officer, form=_officer_form: Ask(
        f"/{OFFICER}{officer(site).pk}/do/{name}/", form(site)
    )


def _oneself(world: World, who: str) -> Officer:
    return world.people.get(who, world.chief)


OTHERS: dict[str, Callable[[World, str], Officer]] = {
    "oneself": _oneself,
    "a superuser": lambda world, who: world.other_chief,
    "an officer of both casinos": lambda world, who: world.of_both,
}
for _what, _other in OTHERS.items():
    ANYWHERE["GET", f"{OFFICER}{CHANGE}", _what] = lambda world, who, officer=_other: [
        Ask(f"/{OFFICER}{officer(world, who).pk}/change/")
    ]
    ANYWHERE["POST", DO, f"deactivate {_what}"] = lambda world, who, officer=_other: [
        Ask(f"/{OFFICER}{officer(world, who).pk}/do/deactivate/", {"reason": "left"})
    ]
for _decision in ("approve", "decline"):
    AT["POST", f"{OFFICER}requests/<int:pk>/<slug:decision>/", _decision] = (
        lambda world, site, who, decision=_decision: Ask(f"/{OFFICER}requests/{site.request.pk}/{decision}/")
    )

# Corrections

for _decision in ("countersign", "refuse"):
    AT["POST", f"{DESK}correction/<int:pk>/decide/", _decision] = lambda world, site, who, decision=_decision: Ask(
        f"/{DESK}correction/{site.correction.pk}/decide/", {"decision": decision, "reason": "seen", **SIGNED}
    )

# Sessions that their tables did not close

CLOSING = f"{DESK}loggedstream/<signed:stream_id>/closing/"
AT["GET", CLOSING, ""] = lambda world, site, who: Ask(f"/{DESK}loggedstream/{site.closing.stream_id}/closing/")
AT["POST", f"{CLOSING}decide/", "propose"] = lambda world, site, who: Ask(
    f"/{DESK}loggedstream/{site.stream.pk}/closing/decide/",
    {"decision": "propose", "counted": "1000.00", "reason": "burned out", **SIGNED},
)
for _what, _decision in {"approve": "approve", "decline": "decline", "withdraw a colleague’s": "withdraw"}.items():
    AT["POST", f"{CLOSING}decide/", _what] = lambda world, site, who, decision=_decision: Ask(
        f"/{DESK}loggedstream/{site.closing.stream_id}/closing/decide/",
        {"decision": decision, "reason": "seen", "closing": str(site.closing.pk), **SIGNED},
    )

# Lists of information

INFORMATION = f"{DESK}informationsigning/night/<int:casino_id>/<str:gaming_day>/"
AT["GET", INFORMATION, ""] = lambda world, site, who: Ask(
    f"/{DESK}informationsigning/night/{site.casino.pk}/{site.signed_list.gaming_day}/"
)
AT["POST", f"{INFORMATION}sign/", ""] = lambda world, site, who: Ask(
    f"/{DESK}informationsigning/night/{site.casino.pk}/{site.signed_list.gaming_day}/sign/",
    {"digest": to_sign(site), **SIGNED},
)


def to_sign(site: Site) -> str:
    """Return the digest of what nobody has signed on the list of a casino's night."""
    own, day = [site.casino.pk], site.signed_list.gaming_day
    return information.digest_of(information.unsigned(own, day, day).values_list("pk", flat=True))


# Complaints

posted(
    f"{DESK}complaint/add/",
    lambda world, site: {
        "table": str(site.table.pk),
        "day": f"{site.stream.gaming_day:%Y-%m-%d}",
        "clock": "21:00",
        "came": "cage",
        "words": "I was not paid",
    },
)
AT["POST", f"{DESK}complaint/<int:pk>/answer/", ""] = lambda world, site, who: Ask(
    f"/{DESK}complaint/{site.complaint.pk}/answer/", {"outcome": "unfounded", "words": "seen on the video"}
)

# Payment orders

ORDER = f"{DESK}paymentorder/"


def _claim(site: Site) -> Form:
    """Return what names a claim of which no payment is ordered, and what is owed by it."""
    claimed = site.claimed
    return {"kind": "payment", "by": "house", "player": claimed.player, "amount": str(claimed.owed["amount"])}


AT["GET", f"{ORDER}new/<int:pk>/", ""] = lambda world, site, who: Ask(
    f"/{ORDER}new/{site.claimed.pk}/?{urlencode(_claim(site))}"
)
AT["POST", f"{ORDER}new/<int:pk>/", ""] = lambda world, site, who: Ask(f"/{ORDER}new/{site.claimed.pk}/", _claim(site))
AT["GET", f"{ORDER}<int:pk>/file/", ""] = lambda world, site, who: Ask(f"/{ORDER}{site.order.pk}/file/")
for _what, _step_form in {
    "paid": {"step": "paid", "receipt": "R-1", "cage": "main", "paid_on": "2026-11-20"},
    "cancel": {"step": "cancel", "reason": "wrong guest"},
}.items():
    AT["POST", f"{ORDER}<int:pk>/decide/", _what] = lambda world, site, who, form=_step_form: Ask(
        f"/{ORDER}{site.order.pk}/decide/", form
    )
AT["POST", f"{ORDER}<int:pk>/decide/", "handed over"] = lambda world, site, who: Ask(
    f"/{ORDER}{site.kept.pk}/decide/",
    {"step": "handed_over", "receipt": "R-1", "cage": "main", "paid_on": "2026-11-20"},
)
AT["POST", f"{ORDER}<int:pk>/decide/", "approve"] = lambda world, site, who: Ask(
    f"/{ORDER}{site.waiver.pk}/decide/", {"step": "approve", **SIGNED}
)

# The watch list and the exclusion list

LISTING = f"{DESK}listing/"
_PROPOSAL: Form = {"kind": "exclusion", "last_day": "", "reason": "seen"}

AT["GET", f"{LISTING}new/<int:pk>/", ""] = lambda world, site, who: Ask(f"/{LISTING}new/{site.person.pk}/")
AT["POST", f"{LISTING}new/<int:pk>/", ""] = lambda world, site, who: Ask(f"/{LISTING}new/{site.person.pk}/", _PROPOSAL)
AT["POST", f"{LISTING}<int:pk>/decide/", "remove"] = lambda world, site, who: Ask(
    f"/{LISTING}{site.listed.pk}/decide/", {"step": "remove", "reason": "seen"}
)
AT["POST", f"{LISTING}<int:pk>/decide/", "decline"] = lambda world, site, who: Ask(
    f"/{LISTING}{site.listing.pk}/decide/", {"step": "decline", "reason": "seen"}
)
AT["POST", f"{LISTING}<int:pk>/decide/", "approve"] = lambda world, site, who: Ask(
    f"/{LISTING}{site.listing.pk}/decide/", {"step": "approve", **SIGNED}
)

AT["POST", f"{LISTING}seen/<int:pk>/dismiss/", ""] = lambda world, site, who: Ask(
    f"/{LISTING}seen/{site.sighting.pk}/dismiss/", {"outcome": "spoken_to", "reason": "seen"}
)

# The house register

one("GET", f"{DESK}registerentry/add/", "a reading is chosen", path=f"{DESK}registerentry/add/?reading=payout_unit")
posted(
    f"{DESK}registerentry/add/",
    lambda world, site: {
        "casino": str(site.casino.pk),
        "reading": "payout_unit",
        "value": "100",
        "table": str(site.table.pk),
        "ruleset": "",
        "first_day": "2026-11-18",
        "last_day": "",
        "reason": "custom",
    },
)
for _decision in ("approve", "decline", "withdraw"):
    AT["POST", f"{DESK}registerentry/<int:pk>/decide/<slug:decision>/", _decision] = (
        lambda world, site, who, decision=_decision: Ask(
            f"/{DESK}registerentry/{site.entry.pk}/decide/{decision}/", {"reason": "seen"}
        )
    )

# The interface of table systems


def _opener(site: Site, stream: str, **data: Any) -> list[dict[str, Any]]:
    """Return the opener of a session of today: a key opens none of a day that is long past."""
    return [site.tenant.opener(stream, **{"gaming_day": f"{timezone.now():%Y-%m-%d}", **data})]


AT["POST", "api/v1/events", ""] = lambda world, site, who: Ask("/api/v1/events", json=_opener(site, "new"))
one("OPTIONS", "api/v1/events")
AT["POST", f"{STREAMS}/events", ""] = lambda world, site, who: Ask(
    "/api/v1/streams/new/events", json=_opener(site, "new")
)
AT["POST", f"{STREAMS}/events", "of long ago"] = lambda world, site, who: Ask(
    "/api/v1/streams/new/events", json=_opener(site, "new", gaming_day="2010-11-19"), refused_by=422
)
AT["POST", f"{STREAMS}/events", "dry run"] = lambda world, site, who: Ask(
    "/api/v1/streams/new/events?dry_run=true", json=_opener(site, "new"), is_read=True
)
for _end in ("/events", "", "/table", "/adjudication", "/batches"):
    AT["GET", f"{STREAMS}{_end}", ""] = lambda world, site, who, end=_end: Ask(
        f"/api/v1/streams/{site.stream.name}{end}"
    )
for _end in ("", "/bundle"):
    AT["GET", f"api/v1/findings/<int:pk>{_end}", ""] = lambda world, site, who, end=_end: Ask(
        f"/api/v1/findings/{site.finding.pk}{end}"
    )
for _end in ("", ".json", ".csv", ".xlsx", ".pdf", "/versions"):
    AT["GET", f"{NIGHTS}{_end}", ""] = lambda world, site, who, end=_end: Ask(
        f"/api/v1/reconciliations/{site.casino.code}/{DAY}{end}"
    )
ANYWHERE["GET", "api/v1/findings", ""] = lambda world, who: [
    Ask("/api/v1/findings"),
    *(
        Ask(f"/api/v1/findings?{urlencode(query)}")
        for site in world.sites
        for query in ({"table": site.table.code}, {"stream": site.stream.name}, {"gaming_day": DAY_BEFORE})
    ),
]
AT["GET", "api/v1/log/inclusion", ""] = lambda world, site, who: Ask(
    f"/api/v1/log/inclusion?stream={site.stream.name}&seq=1"
)
for _end in ("", "callback/"):
    one(
        "GET", f"admin/login/provider/{_end}", "where single sign-on is configured", path=f"admin/login/provider/{_end}"
    )
one("GET", "api/v1/log/consistency", path="api/v1/log/consistency?from=1")
one("GET", "api/v1/^(?!schema/|docs/)", "an address that there is not", path="api/v1/nothing")


def is_known(row: Row) -> bool:
    """Return whether a request is made for a row: one of its own, or that of a page without a form."""
    return (row.method == "GET" and not row.what) or (row.method, row.address, row.what) in {**AT, **ANYWHERE}
