"""The *registre des changes*: numbered by desk, from the first exchange of whoever reached the threshold."""

from __future__ import annotations

from settlement.persons.exchange_register import exchange_registers
from settlement.persons.thresholds import Thresholds
from tests.settlement.persons.streams_of_money import count_room, day_of, table

DAY = day_of(
    table("R3", "20:41 buy Aline 20000 cash\n21:00 buy Bruno 199999 cash\n21:01 buy - 100 cash"),
    table("R2", "22:12 buy Aline 30000 cash\n22:58 buy Aline 30000 cash\n23:59 buy - 200000 cash"),
    count_room(
        "count",
        """
        20:08 in  Aline 50000  cash cage-1
        21:05 in  Hugo  240000 cash cage-2
        21:37 in  Aline 60000  cash cage-1
        23:20 in  Aline 40000  cash cage-1
        00:47 out Aline 186500 cash cage-1
        00:58 out Hugo  296000 cash cage-2
        01:22 out Inga  215000 cheque
        """,
    ),
)

# Number, clock (UTC), player, direction, amount, of the day; ! where identification became due.
EXPECTED = """
    desk cage-1
    1 19:08 Aline in  50000  50000
    2 20:37 Aline in  60000  130000
    3 22:20 Aline in  40000  230000 !
    4 23:47 Aline out 186500 186500
    = 150000 186500
    desk cage-2
    1 20:05 Hugo  in  240000 240000 !
    2 23:58 Hugo  out 296000 296000 !
    = 240000 296000
    desk count
    1 00:22 Inga  out 215000 215000 !
    = 0 215000
    table R2
    1 21:12 Aline in  30000  160000
    2 21:58 Aline in  30000  190000
    3 22:59 -     in  200000 0 !
    = 260000 0
    table R3
    1 19:41 Aline in  20000  70000
    = 20000 0
"""


def written(everybody: bool = False, thresholds: Thresholds | None = None) -> list[list[str]]:
    lines = []
    options = {} if thresholds is None else {"thresholds": thresholds}
    for register in exchange_registers(DAY, everybody=everybody, **options):
        lines.append(["desk" if register.is_of_desk else "table", register.where])
        for entry in register.entries:
            each = entry.exchange
            line = [entry.number, f"{each.at:%H:%M}", each.player or "-", each.direction, each.amount, entry.of_day]
            lines.append([str(part) for part in line] + ["!"] * entry.reaches)
        lines.append(["=", str(register.into_chips), str(register.into_money)])
    return lines


def test_a_day_is_written_desk_by_desk() -> None:
    assert written() == [line.split() for line in EXPECTED.strip().splitlines()]


def test_everybody_may_be_listed() -> None:
    lines = written(everybody=True)
    assert ["2", "20:00", "Bruno", "in", "199999", "199999"] in lines
    assert ["3", "20:01", "-", "in", "100", "0"] in lines
    assert written(thresholds=Thresholds(identification_from={})) == [line[:6] for line in lines]
