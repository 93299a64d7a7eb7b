"""A new problem outside the checkout: a small one that works, to be changed."""

import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from gpu_eval.problems.loader import DEFINITION
from suiteopt.errors import UserError

TEMPLATE = Path(__file__).parent / "template"

_FILES = {"problem.py.in": DEFINITION, "kernel.cu": "kernel.cu", "README.md.in": "README.md"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def new_problem(name: str, directory: Path) -> Path:
    """Write a whole working problem ``user/<name>`` into ``directory/<name>``.

    Parameters
    ----------
    name : str
        Letters, digits, ``-`` and ``_``; begins with a letter.
    directory : Path
        The corpus it shall belong to; made if there is none.

    Returns
    -------
    Path
        The new directory.

    Raises
    ------
    UserError
        If the name does not serve, something of that name exists, or nothing can be written
        there.
    """
    if not _NAME.fullmatch(name):
        raise UserError(
            f"'{name}' is not a name for a problem; use letters, digits, '-' and '_', a letter "
            "first"
        )
    target = directory / name
    if target.exists() or target.is_symlink():
        raise UserError(f"{target} exists already; choose another name or remove it first")
    staged: Path | None = None
    try:
        directory.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=directory))
        for template, file in _FILES.items():
            text = (TEMPLATE / template).read_text("utf-8")
            text = text.replace("@NAME@", name).replace(
                "@DIRECTORY@", shlex.quote(directory.as_posix())
            )
            (staged / file).write_text(text, "utf-8")
        staged.chmod(0o755)
        os.replace(staged, target)
    except OSError as error:
        if staged is not None:
            shutil.rmtree(staged, ignore_errors=True)
        reason = error.strerror or str(error)
        raise UserError(f"{target}: cannot be written ({reason}); choose another place") from error
    return target
