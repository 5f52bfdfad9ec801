"""What officers may do, and which role lets them: the policy of the desk as one table.

It is code, and not rows that somebody could change at the desk: a change of what a role may do concerns every casino,
is reviewed, and is released with the tests that hold the pages to it. Which officer has which role at which casino is
data (``audit.models.officers.Membership``).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from audit.models.officers import Role


class Capability(StrEnum):
    """One thing that an officer may do at a casino."""

    SEE_RECORD = "see_record"  # events, findings, nights, the audit trail; take them away as files
    SEE_NAMES = "see_names"  # the names of players and staff beside their ids
    WORK_CASES = "work_cases"  # take a case, note, propose closing; start a what-if run
    APPROVE_CASES = "approve_cases"  # decide what another officer proposed
    SIGN_NIGHTS = "sign_nights"  # sign a night, accept its shortcomings, reconcile it again
    KEEP_EQUIPMENT = "keep_equipment"  # tables, API keys, deadlines, subscribers, the directory of persons
    KEEP_REGISTER = "keep_register"  # propose and approve the readings of the law
    KEEP_OFFICERS = "keep_officers"  # officers and their roles
    RECEIVE_REPORTS = "receive_reports"  # nights by mail


_HOLDERS: Mapping[Capability, frozenset[Role]] = MappingProxyType(
    {
        Capability.SEE_RECORD: frozenset({Role.OFFICER, Role.SECOND, Role.DIRECTOR, Role.AUDITOR}),
        Capability.SEE_NAMES: frozenset({Role.OFFICER, Role.SECOND, Role.DIRECTOR}),
        Capability.WORK_CASES: frozenset({Role.OFFICER, Role.SECOND}),
        Capability.APPROVE_CASES: frozenset({Role.SECOND, Role.DIRECTOR}),
        Capability.SIGN_NIGHTS: frozenset({Role.SECOND, Role.DIRECTOR}),
        Capability.KEEP_EQUIPMENT: frozenset({Role.ADMINISTRATOR}),
        Capability.KEEP_REGISTER: frozenset({Role.SECOND, Role.DIRECTOR}),
        Capability.KEEP_OFFICERS: frozenset({Role.ADMINISTRATOR}),
        Capability.RECEIVE_REPORTS: frozenset({Role.OFFICER, Role.SECOND, Role.DIRECTOR, Role.AUDITOR}),
    }
)


def roles_with(*capabilities: Capability) -> frozenset[Role]:
    """Return the roles that have one of the capabilities. A superuser has every one of them at every casino."""
    return frozenset[Role]().union(*(_HOLDERS[capability] for capability in capabilities))


def capabilities_of(role: str) -> frozenset[Capability]:
    """Return the capabilities of a role."""
    return frozenset(capability for capability, holders in _HOLDERS.items() if role in holders)
