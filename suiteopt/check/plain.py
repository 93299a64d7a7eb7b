"""Text of a process that is not trusted, made fit to be shown."""

_SHOWN = 200


def plain(text: object) -> str:
    """Return what a child said as one short line that a terminal cannot take for orders."""
    words = "".join(c if c.isprintable() else " " for c in str(text)[: 4 * _SHOWN]).split()
    line = " ".join(words)
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
