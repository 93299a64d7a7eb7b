"""Unified diffs that ``git apply`` takes."""

import difflib
from collections.abc import Iterable

from suiteopt.export.checkout import Checkout
from suiteopt.export.transaction import Change

NO_NEWLINE = "\\ No newline at end of file\n"


def diff_changes(checkout: Checkout, changes: Iterable[Change]) -> str:
    """Return what a list of changes would do to a checkout, in git's form.

    Parameters
    ----------
    checkout : Checkout
        Read, not changed.
    changes : iterable of Change
        At most one a path.

    Returns
    -------
    str
        Empty where nothing would change. Bytes that are no UTF-8 stand as surrogate escapes:
        write it with ``errors="surrogateescape"``.
    """
    parts = []
    for change in changes:
        before = checkout.read(change.path)
        if before != change.content:
            executable = before is not None and bool(
                checkout.locate(change.path).stat().st_mode & 0o100
            )
            parts.append(file_diff(change.path, before, change.content, executable=executable))
    return "".join(parts)


def file_diff(
    path: str, before: bytes | None, after: bytes | None, *, executable: bool = False
) -> str:
    """Return the diff of one file; None stands for a file that is not there."""
    mode = "100755" if executable else "100644"
    head = f"diff --git {_quoted('a/' + path)} {_quoted('b/' + path)}\n"
    if before is None:
        head += f"new file mode {mode}\n"
    elif after is None:
        head += f"deleted file mode {mode}\n"
    lines = list(
        difflib.unified_diff(
            _lines(before or b""),
            _lines(after or b""),
            "/dev/null" if before is None else _quoted("a/" + path),
            "/dev/null" if after is None else _quoted("b/" + path),
        )
    )
    ended = (line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in lines)
    return head + "".join(ended)


def _lines(content: bytes) -> list[str]:
    # Not str.splitlines, which also splits at form feeds and the like, as git does not.
    text = content.decode(errors="surrogateescape")
    return [line + "\n" for line in text.split("\n")[:-1]] + [
        rest for rest in (text.rsplit("\n", 1)[-1],) if rest
    ]


def _quoted(path: str) -> str:
    """Quote a path as git does where it holds a character that needs it."""
    if all(33 <= ord(letter) < 127 and letter not in '"\\' for letter in path):
        return path
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:03o}"
        for byte in path.encode(errors="surrogateescape")
    )
    return f'"{escaped}"'
