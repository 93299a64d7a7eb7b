"""One self-contained page about a matrix, a check and a suite, with its figures and tables.

`collect` asks the other packages and keeps what a matrix cannot say as a sentence; `figures` draws
SVG; `tables` lays out CSV and HTML alike; `page` renders. Nothing is computed here.
"""
