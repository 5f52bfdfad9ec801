"""A witness of transparency logs (C2SP tlog-witness): a program for another host, with another owner than the log's.

    add-checkpoint ─► known log? its key? ─► extends what was cosigned last? ─► kept on disk ─► cosignature
                                                          │ no
                                                          └─► both notes kept as evidence, an alarm, no cosignature

It needs Python 3.11 and ``cryptography``, and nothing of Cabochon: copy this folder.
"""
