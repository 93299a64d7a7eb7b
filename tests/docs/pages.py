"""Pages as tests read them."""

from pathlib import Path


def flat(path: Path) -> str:
    """Return a page in one line, so that a sentence is found wherever its lines end."""
    return " ".join(path.read_text("utf-8").split())
