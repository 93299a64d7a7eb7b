"""Loading corpora: directories of ``<anything>/problem.py`` files, each binding ``PROBLEM``.

Definitions are code. They run in this process, by design: use only corpora that you trust.
"""

import ast
import contextlib
import hashlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from gpu_eval.devices.base import KernelSource
from gpu_eval.problems.definition import Problem, Substrate
from gpu_eval.problems.locate import Definition
from gpu_eval.problems.plan import Launch, LaunchPlan, Repeat, Step, When
from gpu_eval.problems.validate_types import check_types
from suiteopt.errors import MissingExtraError, UserError

DEFINITION = "problem.py"
BUILT_IN = Path(__file__).parent
INCLUDE = Path(__file__).parent / "include"
SHARED = ("gpu_eval.problems.families.", "gpu_eval.problems.blind.")
"""What definitions of the built-in corpus have in common, beside the interface."""

_KEPT: dict[Path, tuple[tuple[int, int], Problem]] = {}
"""Built-in problems that this process has loaded, or one that it was forked from, by definition:
each with what the file looked like. One that has changed is loaded anew by whoever asks for it."""

_WORD = r"(?!\.+(?:/|$))[A-Za-z0-9_.-]+"
_ID = re.compile(rf"{_WORD}(/{_WORD})*")
"""Ids are names of directories below the matrix: no part is all dots."""


@dataclass(frozen=True)
class Corpus:
    """Problems by id, in the order of their ids."""

    problems: Mapping[str, Problem]

    def hash(self) -> str:
        """Return SHA-256 over ids, definitions, what they share, and all sources with headers."""
        digest = hashlib.sha256()
        for identifier, problem in self.problems.items():
            definition = (problem.directory / DEFINITION).read_text("utf-8")
            _feed(digest, identifier, definition)
            for name, text in sorted(_shared_modules(definition).items()):
                _feed(digest, name, text)
            for substrate in all_substrates(problem):
                for name, text in sources(problem, substrate).items():
                    _feed(digest, f"{substrate.name}/{name}", text)
        return digest.hexdigest()

    def problem(self, identifier: str) -> Problem:
        """Return one problem.

        Raises
        ------
        UserError
            If there is none of that id.
        """
        try:
            return self.problems[identifier]
        except KeyError:
            meant = identifier.strip().lower()
            hint = f"did you mean {meant}? " if meant in self.problems else ""
            raise UserError(
                f"no problem '{identifier}' in the corpus; {hint}'gpu-eval corpus list' names "
                f"all {len(self.problems)}"
            ) from None


def _shared_modules(text: str) -> dict[str, str]:
    """Return the modules that a definition shares with others, by name, and what those share.

    They hold references and controls: an edited one makes other cells.
    """
    found: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for name in _imported(waiting.pop()):
            path = BUILT_IN.parents[1] / Path(*name.split(".")).with_suffix(".py")
            if name.startswith(SHARED) and name not in found and path.is_file():
                found[name] = path.read_text("utf-8")
                waiting.append(found[name])
    return found


@lru_cache(maxsize=256)
def _imported(text: str) -> tuple[str, ...]:
    """Return the names of all that a module imports, members of packages included."""
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(names)


def load_corpus(directories: Sequence[Path] | None = None, *, built_in: bool = True) -> Corpus:
    """Load the built-in corpus and those in ``directories``.

    Parameters
    ----------
    directories : sequence of Path, optional
        Each a problem's directory, or a directory of such. A problem of an id that an earlier
        corpus has replaces it.
    built_in : bool
        Whether to begin with the built-in corpus.

    Raises
    ------
    UserError
        If a directory holds no definition, a definition fails (with file and line), or two
        definitions of one directory have the same id.
    """
    problems: dict[str, Problem] = {}
    roots = sorted(BUILT_IN.glob("level*")) if built_in else []
    for root in [*roots, *(directories or ())]:
        problems |= _load_directory(Path(root))
    return Corpus(MappingProxyType(dict(sorted(problems.items()))))


def _kept(path: Path) -> Problem:
    """Return a built-in problem, loaded once as long as its definition is the same."""
    looks = _looks(path)
    seen, problem = _KEPT.get(path, (None, None))
    if problem is None or seen != looks:
        problem = load_problem(path)
        _KEPT[path] = (looks, problem)
    return problem


def _looks(path: Path) -> tuple[int, int]:
    """Return what tells whether a file has been written to."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def load_problem(path: Path) -> Problem:
    """Run one definition file and return its ``PROBLEM``.

    Raises
    ------
    UserError
        If it cannot be read, fails (with file and line), binds no `Problem`, or one whose fields
        are of other types.
    """
    path = path.resolve()
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise UserError(f"{path}:{line}: not valid Python: {error.args[0]}") from error
    name = f"gpu_eval_corpus_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    if spec is None:
        raise UserError(f"{path}: cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    # Dataclasses and pickling look a module up by its name while and after it runs.
    sys.modules[name] = module
    try:
        # Standard output is for answers alone; what a definition prints goes to standard error.
        with contextlib.redirect_stdout(sys.stderr):
            exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            raise MissingExtraError("torch", "eval") from error
        line = _line_in(path, error)
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(f"{path}:{line}: the definition fails with {reason}") from error
    problem = getattr(module, "PROBLEM", None)
    if not isinstance(problem, Problem):
        raise UserError(f"{path}:1: binds no PROBLEM; end it with PROBLEM = Problem(...)")
    if not isinstance(problem.id, str) or not _ID.fullmatch(problem.id):
        raise UserError(
            f"{path}:1: the id {problem.id!r} is not made of letters, digits, '_', '.', '-' and "
            "single slashes, with something beside dots between them"
        )
    check_types(problem, Definition(path, problem.id))
    return replace(problem, directory=path.parent)


def all_substrates(problem: Problem) -> tuple[Substrate, ...]:
    """Return a problem's substrates and the CUDA implementations among its controls."""
    controls = tuple(c.substrate for c in problem.controls if c.substrate is not None)
    return problem.substrates + controls


def sources(problem: Problem, substrate: Substrate) -> dict[str, str]:
    """Return file name to text: the main file first, then its headers as they are included.

    Headers are looked for beside the definition, then among the shared ones.

    Raises
    ------
    UserError
        If a file is missing or not UTF-8.
    """
    files = {substrate.source: _read(problem.directory / substrate.source)}
    for header in substrate.headers:
        own = problem.directory / header
        files[header] = _read(own if own.is_file() else INCLUDE / header)
    return files


def launched_kernels(plan: LaunchPlan) -> tuple[str, ...]:
    """Return the names of the kernels that a plan launches, each once, in order."""
    return tuple(dict.fromkeys(launch.kernel for launch in launches(plan.steps)))


def launches(steps: Sequence[Step]) -> list[Launch]:
    """Return all launches of a list of steps, nested ones included."""
    found: list[Launch] = []
    for step in steps:
        match step:
            case Launch():
                found.append(step)
            case When():
                found += launches(step.steps) + launches(step.otherwise)
            case Repeat():
                found += launches(step.steps)
    return found


def kernel_source(
    problem: Problem,
    substrate: Substrate,
    *,
    identifier: str | None = None,
    flags: tuple[str, ...] = (),
) -> KernelSource:
    """Return what a device compiles.

    Parameters
    ----------
    problem, substrate : Problem, Substrate
    identifier : str, optional
        The implementation's id; ``<problem>:<substrate>`` unless given.
    flags : tuple of str
        Further compile options (a control's).
    """
    return KernelSource(
        id=identifier or f"{problem.id}:{substrate.name}",
        files=sources(problem, substrate),
        main=substrate.source,
        kernels=launched_kernels(substrate.plan),
        flags=flags,
    )


def _load_directory(root: Path) -> dict[str, Problem]:
    if not root.is_dir():
        raise UserError(f"{root}: no such directory; a corpus is a directory of */{DEFINITION}")
    own = root / DEFINITION
    paths = [own] if own.is_file() else sorted(root.glob(f"*/{DEFINITION}"))
    if not paths:
        raise UserError(
            f"{root}: holds no {DEFINITION} and no */{DEFINITION}; 'gpu-eval new NAME' writes one"
        )
    load = _kept if root.parent == BUILT_IN else load_problem
    found: dict[str, Problem] = {}
    for path in paths:
        problem = load(path)
        if problem.id in found:
            other = found[problem.id].directory / DEFINITION
            raise UserError(f"{path}:1: the id '{problem.id}' is taken by {other}; choose another")
        found[problem.id] = problem
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise UserError(
            f"{path}: no such source file; put it beside {DEFINITION} (headers may also come from "
            f"{INCLUDE.name}/)"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as UTF-8 text ({error})") from error


def _line_in(path: Path, error: BaseException) -> int:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return (frames[-1].lineno or 1) if frames else 1


def _feed(digest: "hashlib._Hash", name: str, text: str) -> None:
    for part in (name.encode(), text.encode()):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
