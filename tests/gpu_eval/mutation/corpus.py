"""The faults of the problems that ship, made once for all tests of a process."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gpu_eval.mutation.catalogue import faults
from gpu_eval.mutation.fault import Fault
from gpu_eval.mutation.parser import ParsedFile, _parser, parse
from gpu_eval.problems.definition import Problem, Substrate
from gpu_eval.problems.loader import load_corpus, load_problem, sources

CORPUS = load_corpus()
PAIRS = [(p, s) for p in CORPUS.problems.values() for s in p.substrates]
FUSED = load_problem(Path(__file__).parent / "fused" / "problem.py")
"""Stages fused into one kernel and spread over launches, for rules of what lies between them."""
ALL_PAIRS = [*PAIRS, *((FUSED, s) for s in FUSED.substrates)]


@cache
def _made(identifier: str, name: str) -> tuple[Mapping[str, str], tuple[Fault, ...]]:
    problem = FUSED if identifier == FUSED.id else CORPUS.problem(identifier)
    substrate = next(s for s in problem.substrates if s.name == name)
    files = sources(problem, substrate)
    return files, faults(problem, substrate, files, substrate.plan)


def made(problem: Problem, substrate: Substrate) -> tuple[Mapping[str, str], tuple[Fault, ...]]:
    """Return the files of a substrate and its faults."""
    return _made(problem.id, substrate.name)


@cache
def parsed(name: str, text: str) -> ParsedFile:
    """Parse a file once, however many substrates include it."""
    return parse(name, text)


@cache
def still_parses(name: str, text: str, start: int, end: int, after: str) -> bool:
    """Return whether the grammar reads a file whole after an edit.

    Only what the edit touches is parsed anew (the parser's own incremental mode), which takes a
    tenth of the time; `test_incremental_parsing_is_parsing` compares the two.
    """
    whole = parsed(name, text)
    data = whole.data[:start] + after.encode() + whole.data[end:]
    stop = start + len(after.encode())
    tree = whole.tree.copy()
    tree.edit(
        start, end, stop, _point(whole.data, start), _point(whole.data, end), _point(data, stop)
    )
    return not _parser().parse(data, tree).root_node.has_error


def _point(data: bytes, offset: int) -> tuple[int, int]:
    row = data.count(b"\n", 0, offset)
    return row, offset - (data.rfind(b"\n", 0, offset) + 1)
