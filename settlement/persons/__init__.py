"""Persons in the record: their opaque ids, and the money of each player over a gaming day.

    opaque_ids         persons are ids, never names
    exchanges          money for chips and chips for money, at tables and at the cash desk
    session            the projection that reads a session's stream once: exchanges, play and rack
    cash_desk          the same for a count-room stream
    opposing           two players on both sides of one chance
    day                all streams of one casino, gaming day and currency, joined
    thresholds         from which amounts on something is due, and what the questions ask from
    holdings           the chips that players keep from one day to the next
    money_finding      a finding about money over several streams
    chips              the questions about chips that come from elsewhere, or do not come back
    findings           what is due from a person's exchanges, and the questions
    exchange_register  the *registre des changes* of each cash desk

    session's events ──► session ────┐
                                     ├──► StreamMoney, kept at the close ──► day ──► findings, exchange_register
    count room's events ► cash_desk ─┘

Pure and exact: amounts are integers in minor units of one currency, shares of a stake are exact fractions. Nothing is
converted from one currency to another: no event has a rate.
"""
