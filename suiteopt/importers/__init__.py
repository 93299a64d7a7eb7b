"""Kill matrices of other mutation-testing tools, read into this project's format.

One module a foreign format (`stryker`, `pit`, `major`, `plain`, `arrays`); each makes a
`killmap.KillMap`, which `write.write_matrix` turns into a matrix. Foreign files are parsed, never
evaluated or unpickled.
"""
