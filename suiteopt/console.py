"""What both command lines share: one sentence an error, one JSON object an answer.

Exit codes: 0 fine, 1 a check failed, 2 usage or bad input.
"""

import contextlib
import errno
import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, NoReturn, TextIO, cast

from rich.console import Console
from rich.text import Text

from suiteopt.errors import MissingExtraError, UserError
from suiteopt.matrix.jsonable import jsonable

if TYPE_CHECKING:
    import typer

EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EVAL_PACKAGES = frozenset({"torch", "tree_sitter", "tree_sitter_cuda", "elftools"})
"""What the extra ``eval`` brings; the base installation goes without."""
INTERRUPTED = 130
"""What Typer makes of Ctrl-C on its own."""

_BLANKS = re.compile(r"[ ]+$", re.MULTILINE)

_UNWRITABLE = {
    errno.ENOSPC: "the disk is full; free some space and run the command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the command again",
    errno.EROFS: "the file system is read-only; choose a directory that can be written",
    errno.EACCES: "permission denied; choose a directory that can be written",
}


class _ReaderGoneError(BrokenPipeError):
    """The reader of standard output went away.

    It has no error number, by which Typer would know it and exit with 1, as Rich would: to a pipe
    into `head` that would say that a check had failed.
    """


class _Console(Console):
    """Says what a matrix or another tool's file holds, and nothing that a terminal acts on."""

    def on_broken_pipe(self) -> None:
        """Leave it to `run_app`."""
        raise _ReaderGoneError

    def render_str(self, text: str, **options: Any) -> Text:
        """Take a line or the cell of a table, with control characters shown and not sent."""
        return super().render_str(escaped(text), **options)


class _Trimmed:
    """A stream whose lines do not end in blanks, as the last column of a table does."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write whole lines."""
        return self._stream.write(_BLANKS.sub("", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def escaped(text: str) -> str:
    """Return text with control characters written out, as Python does; lines stay lines."""
    return "".join(
        letter
        if letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


def stderr() -> Console:
    """Return a console on standard error, where everything but answers goes.

    Names are printed as they are: neither brackets nor colons in them mean anything.
    """
    return _Console(stderr=True, highlight=False, markup=False, emoji=False)


def stdout() -> Console:
    """Return a console on standard output; as wide as needed where that is no terminal."""
    _require_stdout()
    width = None if sys.stdout.isatty() else 160
    out = cast("IO[str]", _Trimmed(sys.stdout))
    return _Console(file=out, highlight=False, markup=False, emoji=False, width=width)


def print_json(answer: Mapping[str, Any]) -> None:
    """Print exactly one JSON object on standard output."""
    _require_stdout()
    text = json.dumps(jsonable(answer), indent=2, allow_nan=False) + "\n"
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise _ReaderGoneError from error


def fail(sentence: str, code: int = EXIT_BAD_INPUT) -> NoReturn:
    """Say one sentence on standard error and exit."""
    # What is quoted may hold control characters, on which a terminal would act.
    text = "".join(letter if letter.isprintable() else "?" for letter in " ".join(sentence.split()))
    _say(f"error: {text}\n")
    sys.exit(code)


def command_words() -> list[str]:
    """Return the arguments of this process; bytes that are no text become question marks.

    In a locale without UTF-8 a name with other letters holds lone surrogates, which no file takes.
    """
    return [os.fsencode(word).decode("utf-8", errors="replace") for word in sys.argv[1:]]


def _require_stdout() -> None:
    """Refuse to answer where standard output was closed (``>&-``), which Python shows as None."""
    if sys.stdout is None:
        raise UserError("standard output is closed, so there is nowhere to answer; open it")


def _say(text: str) -> None:
    """Write to standard error, if there is one."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)


def _leave_quietly() -> NoReturn:
    """End without an error: the reader went away (a pipe into `head`), nothing can be said."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def run_script(main: Callable[[], int | None]) -> None:
    """Run a script's main function; it ends on a reader gone or a bad input as commands do.

    What it returns is the exit code.
    """
    try:
        code = main()
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _leave_quietly()
    except UserError as error:
        fail(str(error))
    if code:
        sys.exit(code)


def run_app(app: "typer.Typer", name: str, resume_hint: str = "") -> NoReturn:
    """Run a Typer application; every foreseeable failure becomes one sentence and exit code 2.

    Parameters
    ----------
    app : typer.Typer
    name : str
        The command's name, for usage messages.
    resume_hint : str
        Said after an interruption: what was kept and how to go on.
    """
    try:
        code = app(prog_name=name, standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
    except UserError as error:
        fail(str(error))
    except (KeyboardInterrupt, EOFError):
        fail("interrupted; " + (resume_hint or "nothing was written"))
    except BrokenPipeError:
        _leave_quietly()
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in EVAL_PACKAGES:
            raise
        fail(str(MissingExtraError(package.replace("_", "-"), "eval")))
    except OSError as error:
        reason = _UNWRITABLE.get(error.errno or 0)
        if reason is None:
            raise
        where = f"{error.filename}: " if error.filename else ""
        fail(where + reason)
    except Exception as error:
        # Typer's and Click's own usage errors; Typer no longer depends on Click, so by shape.
        message = getattr(error, "format_message", None)
        if type(error).__name__ == "NoArgsIsHelpError" and message is not None:
            _say(f"{message().rstrip()}\n")
            sys.exit(EXIT_BAD_INPUT)
        if message is None:
            if type(error).__name__ == "Abort":
                fail("interrupted; " + (resume_hint or "nothing was written"))
            raise
        fail(f"{message().rstrip('.')}; see '{name} --help'")
    sys.exit(code if isinstance(code, int) else 0)
