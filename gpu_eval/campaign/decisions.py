"""What is decided of each problem before anything runs, on all cores where there are many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gpu_eval.campaign.device_settings import cores
from gpu_eval.campaign.implementations import problem_faults
from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.campaign.spread import spread
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.mutation.fault import Fault
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import Corpus, load_corpus
from gpu_eval.problems.validate import validate

PROBLEMS_EACH = 6
"""A process that helps must save what it takes to start: one is started for so many problems."""

FEWEST_CORES = 4
"""With fewer, what helpers save is what starting them costs."""


@dataclass(frozen=True)
class Asked:
    """What is to be decided of a problem.

    Attributes
    ----------
    problem : str
        Its id.
    corpora : tuple of str
        Where it may lie, besides the built-in corpus.
    profile : str
        By whose rules the pools are made; empty: they are there already.
    sites : int or None
        See `gpu_eval.campaign.implementations.implementations`.
    checked : bool
        Whether the definition is known to be right.
    """

    problem: str
    corpora: tuple[str, ...]
    profile: str
    sites: int | None
    checked: bool


@dataclass(frozen=True)
class Decided:
    """What was decided: plain data, since a pipe takes no definition (it holds functions).

    Attributes
    ----------
    witnesses, candidates : tuple of PoolInput
        Empty where no pools were asked for.
    faults : tuple of tuple of Fault
        Of each substrate.
    """

    witnesses: tuple[PoolInput, ...]
    candidates: tuple[PoolInput, ...]
    faults: tuple[tuple[Fault, ...], ...]


def decide(problem: Problem, asked: Asked) -> Decided:
    """Check a definition, make its pools, and find its faults.

    The witness pool is made first and from its own seeds: nothing that is chosen later can have
    looked at it.

    Raises
    ------
    UserError
        If the definition is wrong.
    """
    if not asked.checked:
        validate(problem)
    witnesses: tuple[PoolInput, ...] = ()
    candidates: tuple[PoolInput, ...] = ()
    if asked.profile:
        profile = PROFILES[asked.profile]
        witnesses = witness_pool(problem, profile)
        candidates = candidate_pool(problem, profile)
    return Decided(witnesses, candidates, problem_faults(problem, asked.sites))


def decide_all(corpus: Corpus, asked: Sequence[Asked]) -> Mapping[str, Decided]:
    """Return what is decided of each problem, by id, in the order given; see `decide`."""
    helpers = min(cores(), len(asked) // PROBLEMS_EACH) if cores() >= FEWEST_CORES else 0
    found = spread(
        asked, lambda one: decide(corpus.problem(one.problem), one), _decide_there, helpers
    )
    return {one.problem: decided for one, decided in zip(asked, found, strict=True)}


def _decide_there(asked: Asked) -> Decided:
    import torch

    torch.set_num_threads(1)  # each core has a process
    return decide(_corpus(asked.corpora).problem(asked.problem), asked)


@lru_cache(maxsize=1)
def _corpus(corpora: tuple[str, ...]) -> Corpus:
    return load_corpus([Path(directory) for directory in corpora])
