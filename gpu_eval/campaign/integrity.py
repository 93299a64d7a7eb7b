"""Whether what a mutant is judged by is still what it was.

On a GPU a kernel reaches everything that its context holds: a stray write may land in a reference
or an input's pristine copy, and every verdict after it would be wrong without a sign. Most land in
memory that belongs to nobody, where they do no harm but are to be known of.
"""

from gpu_eval.devices.base import Session


class Integrity:
    """Remembers the checksum of every case from when it was made."""

    def __init__(self) -> None:
        self._sums: dict[str, int] = {}

    def holds(self, session: Session, key: str, whole: bool = False) -> bool:
        """Tell whether the case that is bound is what it was when it was seen first.

        Parameters
        ----------
        session : Session
        key : str
            Of the case.
        whole : bool
            Whether nothing may have been written to memory that belongs to nobody, either.
        """
        trespassed = whole and session.trespassed()
        found = session.checksum()
        return self._sums.setdefault(key, found) == found and not trespassed

    def forget(self, key: str) -> None:
        """Take a case as new when it is bound again."""
        self._sums.pop(key, None)
