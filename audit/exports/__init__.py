"""Exports: a table of rows as CSV, XLSX or PDF.

    sheets.py     Column, Sheet; CSV and XLSX
    pdf.py        PDF by typst
    lists.py      one list in the format that the user chose
    findings.py   the columns of the findings list, and its rows for a file

    what_if_difference.py   what a what-if run changes, as CSV or JSON
    csv_injection.py        the guard against spreadsheet formulas

The same data gives the same bytes. The caller decides what is exported, and who may.
"""
