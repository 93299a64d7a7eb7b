"""Kill matrices in the formats of other tools: reports to read, maps to compute on, CI gates.

`outcomes` says what a check makes of every mutant; `stryker`, `major` and `junit` write it down.
"""
