"""Everything that a campaign will do, decided before anything runs."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_eval.campaign.decisions import Asked, Decided, decide_all
from gpu_eval.campaign.implementations import Implementation, implementations
from gpu_eval.campaign.pool_input import OWN, PoolInput, pool_hash
from gpu_eval.campaign.replay import suite_pools
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.shapes import PROFILES, Profile
from gpu_eval.problems import expressions
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import Corpus, load_corpus
from gpu_eval.problems.tensors import dimensions, shape_of
from gpu_eval.problems.wild import with_wild_kernels
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Role, ShapeScope

REPEATED_INPUTS = 4


@dataclass(frozen=True)
class ProblemPlan:
    """What is run for one problem.

    Attributes
    ----------
    problem : Problem
    candidates, witnesses : tuple of PoolInput
        The frozen pools (candidates include the own draws).
    order : tuple of PoolInput
        Both pools in the order in which they run: the repeated ones, then the others, each the
        cheapest first; later own draws last.
    own : str
        Id of the first own draw; empty in a replay without one.
    repeated : frozenset of str
        Inputs that are run under every schedule, by all; the others only by implementations
        that disagreed with themselves on one of these.
    implementations : tuple of Implementation
        Substrates, controls, nulls, mutants, wild kernels, in the order of the matrix's table.
    """

    problem: Problem
    candidates: tuple[PoolInput, ...]
    witnesses: tuple[PoolInput, ...]
    order: tuple[PoolInput, ...]
    own: str
    repeated: frozenset[str]
    implementations: tuple[Implementation, ...]

    @property
    def id(self) -> str:
        """The problem's id."""
        return self.problem.id

    @property
    def inputs(self) -> tuple[PoolInput, ...]:
        """All inputs in the order of the matrix's table."""
        return self.candidates + self.witnesses

    @property
    def shapes(self) -> tuple[Mapping[str, int], ...]:
        """The different shapes in use."""
        different = {json.dumps(dict(i.shape), sort_keys=True): i.shape for i in self.order}
        return tuple(different.values())


@dataclass(frozen=True)
class CampaignPlan:
    """What is run, and the hashes that say on what."""

    profile: str
    problems: tuple[ProblemPlan, ...]
    corpus_hash: str
    pool_hash: str
    witness_hash: str

    def frozen(self) -> dict[str, Any]:
        """Return what is written down before anything runs; a resumed campaign must agree."""
        return {
            "witness_hash": self.witness_hash,
            "pool_hash": self.pool_hash,
            "corpus_hash": self.corpus_hash,
            "inputs": {p.id: [i.id for i in p.inputs] for p in self.problems},
        }


def find_profile(name: str) -> Profile:
    """Return a profile by name.

    Raises
    ------
    UserError
        If there is none.
    """
    if name not in PROFILES:
        raise UserError(f"there is no profile '{name}'; choose one of {', '.join(PROFILES)}")
    return PROFILES[name]


def choose_problems(corpus: Corpus, settings: Settings, profile: Profile) -> list[Problem]:
    """Return the problems that a campaign is about, in the order of their ids.

    Those named; otherwise those of the given corpora; otherwise those of the levels asked for;
    otherwise those of the profile, which is all where it names none.

    Raises
    ------
    UserError
        If one is unknown, or none is left.
    """
    known = corpus.problems
    if settings.problems and settings.levels:
        raise UserError("give either problems or levels, not both")
    of_profile = profile.problems if not settings.levels else ()
    wanted: Sequence[str] = settings.problems or of_profile or tuple(known)
    if settings.corpora and not settings.problems:
        own = [Path(directory) for directory in settings.corpora]
        wanted = tuple(load_corpus(own, built_in=False).problems)
    for name in wanted:
        corpus.problem(name)
    chosen = [problem for name, problem in known.items() if name in set(wanted)]
    return of_levels(chosen, settings.levels)


def of_levels(problems: Sequence[Problem], levels: Sequence[int]) -> list[Problem]:
    """Return the problems of the levels asked for; all where none is.

    Raises
    ------
    UserError
        If there is no problem of one of them.
    """
    known = {problem.level for problem in problems}
    for level in levels:
        if level not in known:
            there = ", ".join(map(str, sorted(known)))
            raise UserError(f"there is no problem of level {level}; levels here: {there}")
    return [p for p in problems if not levels or p.level in levels]


def build_plan(settings: Settings, checked: str = "") -> CampaignPlan:
    """Load and check the corpus, make and hash the pools, and list every implementation.

    Parameters
    ----------
    settings : Settings
    checked : str
        The hash of a corpus whose definitions have been checked: those of the same hash are not
        checked again.

    Raises
    ------
    UserError
        If a problem definition is wrong or a name is unknown.
    """
    corpus = load_corpus([Path(directory) for directory in settings.corpora])
    sites = settings.sites  # None in a replay, which must find whatever its matrix ran
    replayed: Mapping[str, tuple[PoolInput, ...]] = {}
    if settings.suite:
        profile = find_profile(settings.limits) if settings.limits else None
        replayed = suite_pools(settings.suite, corpus, profile)
        chosen = [corpus.problem(name) for name in replayed]
    else:
        profile = find_profile(settings.profile)
        sites = profile.sites
        chosen = choose_problems(corpus, settings, profile)
    # A wrong definition is told better than its hash can; so the check comes first, where it comes.
    corpus_hash = _corpus_hash(chosen, settings) if checked else ""
    known = bool(settings.suite) or (bool(checked) and checked == corpus_hash)
    pools = "" if settings.suite else settings.profile
    decided = decide_all(
        corpus, [Asked(p.id, settings.corpora, pools, sites, known) for p in chosen]
    )
    candidates = replayed or {name: one.candidates for name, one in decided.items()}
    return CampaignPlan(
        profile=settings.profile,
        problems=tuple(
            _plan_problem(p, candidates[p.id], decided[p.id], settings.wild) for p in chosen
        ),
        corpus_hash=corpus_hash or _corpus_hash(chosen, settings),
        pool_hash=pool_hash([i for pool in candidates.values() for i in pool]),
        witness_hash=pool_hash([i for one in decided.values() for i in one.witnesses]),
    )


def _corpus_hash(chosen: Sequence[Problem], settings: Settings) -> str:
    plain = Corpus({p.id: p for p in chosen}).hash()
    return with_wild_kernels(plain, chosen) if settings.wild else plain


def _plan_problem(
    problem: Problem, candidates: tuple[PoolInput, ...], decided: Decided, wild: bool
) -> ProblemPlan:
    inputs = candidates + decided.witnesses
    _check_unique(problem.id, "input", (i.id for i in inputs))
    listed = implementations(problem, wild=wild, found=decided.faults)
    _check_unique(problem.id, "implementation", (i.id for i in listed))
    order = run_order(problem, inputs)
    repeated = repeated_inputs(order)
    return ProblemPlan(
        problem=problem,
        candidates=candidates,
        witnesses=decided.witnesses,
        # Repeated inputs first: whoever disagrees with himself on them is repeated on the others.
        order=tuple(sorted(order, key=lambda i: i.id not in repeated)),
        own=first_own_draw(candidates),
        repeated=repeated,
        implementations=listed,
    )


def run_order(problem: Problem, inputs: Sequence[PoolInput]) -> tuple[PoolInput, ...]:
    """Order inputs by cost, so that one that crashes is closed on the cheapest; own draws last."""
    position = {pool_input.id: index for index, pool_input in enumerate(inputs)}
    return tuple(
        sorted(inputs, key=lambda i: (i.role == Role.OWN, cost(problem, i), position[i.id]))
    )


def cost(problem: Problem, pool_input: PoolInput) -> int:
    """Return an input's cost in elements moved plus terms summed, by its shape alone."""
    sizes = dimensions(problem, pool_input.shape)
    length = expressions.evaluate(problem.reduction_length, sizes)
    outputs = sum(_elements(shape_of(spec, sizes)) for spec in problem.outputs)
    others = sum(_elements(shape_of(spec, sizes)) for spec in problem.inputs)
    others += sum(_elements(shape_of(spec, sizes)) for spec in problem.parameters)
    return others + outputs + outputs * length


def first_own_draw(candidates: Sequence[PoolInput]) -> str:
    """Return the id of the benchmark's first own draw, which is a candidate; or nothing."""
    for pool_input in candidates:
        if pool_input.role == Role.CANDIDATE and pool_input.kind == OWN:
            return pool_input.id
    return ""


def repeated_inputs(order: Sequence[PoolInput]) -> frozenset[str]:
    """Choose the inputs that are run under every schedule: the first four kinds that differ.

    Shapes of the contract or the profile come before odd ones, on which one thread may do all
    the work and no race can show.
    """
    candidates = [i for i in order if i.role == Role.CANDIDATE]
    candidates.sort(key=lambda i: i.scope == ShapeScope.OTHER)
    chosen: dict[str, str] = {}
    for pool_input in candidates:
        chosen.setdefault(pool_input.kind, pool_input.id)
    return frozenset(list(chosen.values())[:REPEATED_INPUTS])


def hash_files(files: Mapping[str, str], extra: str = "") -> str:
    """Return the SHA-256 of some source files and a further text."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0{files[name]}\0".encode())
    digest.update(extra.encode())
    return digest.hexdigest()


def _elements(shape: Sequence[int]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def _check_unique(problem: str, what: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise UserError(f"{problem}: the {what} id '{name}' is there twice; rename one of them")
        seen.add(name)
