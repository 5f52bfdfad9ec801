"""Charts as SVG, written on the server: one function a chart, the same for page, print and PDF.

A chart knows nothing of money or of nights: its texts are ready, its numbers are lengths. Colours are classes, which
the page's style sheet fills in by its tokens and ``for_print`` by colours of its own. Each has a title and a
description; the page that shows it has its numbers as a table.
"""
