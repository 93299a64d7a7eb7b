"""All survivors of a check: why each survives, by family, and which recipe is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd

from suiteopt.audit.checks import Check, check_table, require_answers
from suiteopt.audit.evidence import gather
from suiteopt.audit.left_out import LeftOut, left_out, left_out_json
from suiteopt.audit.reasons import EXPLANATIONS, RECIPE_WOULD_HELP, Reason
from suiteopt.audit.survival import Survivor, survivors_of
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator, denominator_mask
from suiteopt.matrix.schema import Role
from suiteopt.matrix.store import Matrix
from suiteopt.suite import BENCHMARK_RECIPE, CONTRACT_SHAPE

_NAMED_BY = ("input", "value_recipe", "parameter_recipe", "shape_recipe", "role")


class Source(StrEnum):
    """Where a recipe that would help is found."""

    POOL = "pool"  # it may be chosen: no correct kernel is rejected on it
    UNSAFE = "unsafe"  # in the pool, but correct kernels are rejected there, or none was run
    WITNESS = "witness"  # only witnesses show the fault: the pool lacks such an input


@dataclass(frozen=True)
class MissingRecipe:
    """An input that would catch survivors.

    Attributes
    ----------
    recipe : str
        Value recipe, parameter recipe and shape; of a witness its kind.
    source : Source
    catches : int
        Survivors that it kills and that the recipes before it do not.
    problems : tuple of str
        Where.
    """

    recipe: str
    source: Source
    catches: int
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Survey:
    """The survivors of a check.

    Attributes
    ----------
    check, label : str
    mutants : int
        That count.
    survivors : tuple of Survivor
    missing : tuple of MissingRecipe
        A greedy cover of the survivors that another input would kill, the strongest first.
    left_out : mapping of str to LeftOut
        Measured problems that the check is not judged on; their mutants do not count.
    """

    check: str
    label: str
    mutants: int
    survivors: tuple[Survivor, ...]
    missing: tuple[MissingRecipe, ...]
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)

    @property
    def by_reason(self) -> dict[Reason, int]:
        """Counts by reason, the most frequent first."""
        return dict(Counter(found.reason for found in self.survivors).most_common())

    @property
    def by_family(self) -> dict[str, dict[Reason, int]]:
        """Counts by family and reason."""
        families: dict[str, Counter[Reason]] = {}
        for found in self.survivors:
            families.setdefault(found.family, Counter())[found.reason] += 1
        return {name: dict(families[name].most_common()) for name in sorted(families)}

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "check": self.check,
            "label": self.label,
            "mutants": self.mutants,
            "left_out": left_out_json(self.left_out),
            "survivors": len(self.survivors),
            "survived_share": len(self.survivors) / self.mutants if self.mutants else None,
            "by_reason": {str(reason): count for reason, count in self.by_reason.items()},
            "by_family": {
                name: {str(reason): count for reason, count in reasons.items()}
                for name, reasons in self.by_family.items()
            },
            "missing": [
                {
                    "recipe": recipe.recipe,
                    "source": str(recipe.source),
                    "catches": recipe.catches,
                    "problems": list(recipe.problems),
                }
                for recipe in self.missing
            ],
            "rows": [
                {
                    "implementation": found.implementation,
                    "problem": found.problem,
                    "family": found.family,
                    "rules": list(found.rules),
                    "reason": str(found.reason),
                    "explanation": EXPLANATIONS[found.reason],
                    "critical_tol": found.error,
                    "tolerance": found.tolerance,
                    "nearest": found.nearest,
                    "killers": list(found.killers),
                }
                for found in self.survivors
            ],
        }


def survey(
    matrix: Matrix, check: Check, denominator: Denominator = Denominator.WITNESSED
) -> Survey:
    """Classify every mutant that a check accepts.

    Parameters
    ----------
    matrix : Matrix
    check : Check
    denominator : Denominator
        Which mutants count.

    Raises
    ------
    UserError
        If the matrix cannot answer the check's oracle, or has no mutant that counts.
    """
    survivors: list[Survivor] = []
    helpers: dict[tuple[Source, str], set[str]] = {}
    home: dict[str, str] = {}
    mutants = 0
    for problem in check.inputs:
        table, columns = check_table(matrix, problem, check)
        rows = np.flatnonzero(denominator_mask(matrix, table, denominator))
        require_answers(check, matrix, table, rows, columns)
        mutants += len(rows)
        evidence = gather(matrix, problem, check, table)
        details = matrix.implementations_of(problem).set_index("implementation")
        found = survivors_of(evidence, rows, details)
        survivors += found
        names = _names(matrix.inputs_of(problem), evidence.offered)
        for survivor in found:
            home[survivor.implementation] = problem
            if survivor.reason in RECIPE_WOULD_HELP:
                for killer in survivor.killers:
                    helpers.setdefault(names[killer], set()).add(survivor.implementation)
    if not mutants:
        raise UserError(
            f"the matrix at {matrix.path} has no mutants that count as {denominator}; give "
            "--denominator valid, or a matrix with a witness pool"
        )
    return Survey(
        check=check.name,
        label=matrix.meta.label,
        mutants=mutants,
        survivors=tuple(survivors),
        missing=tuple(_cover(helpers, home)),
        left_out=left_out(matrix, check, denominator),
    )


def _names(rows: pd.DataFrame, offered: Sequence[bool] | Any) -> dict[str, tuple[Source, str]]:
    """Name the inputs of a problem so that equal recipes of several problems are one."""
    names: dict[str, tuple[Source, str]] = {}
    columns = [rows[name].astype(str) for name in _NAMED_BY]
    for name, values, parameters, shape, role, may_be_chosen in zip(*columns, offered, strict=True):
        witness = role == str(Role.WITNESS)
        if witness:  # witness-<number>-<kind>: the kind is what the pool lacks
            values = values.removeprefix("witness-").partition("-")[2] or values
        text = values
        if parameters != BENCHMARK_RECIPE:
            text += f":{parameters}"
        if shape != CONTRACT_SHAPE:
            text += f"@{shape}"
        source = Source.WITNESS if witness else Source.POOL if may_be_chosen else Source.UNSAFE
        names[name] = (source, text)
    return names


def _cover(
    helpers: dict[tuple[Source, str], set[str]], home: dict[str, str]
) -> list[MissingRecipe]:
    """Cover greedily what can be covered, from the pool first, then by unsafe inputs and kinds
    of witnesses."""
    left = set().union(*helpers.values()) if helpers else set()
    order = list(Source)
    chosen = []
    for source in order:
        group = {key: found for key, found in helpers.items() if key[0] == source}
        while group:
            best = min(group, key=lambda key: (-len(group[key] & left), key[1]))
            caught = group.pop(best) & left
            if not caught:
                break
            left -= caught
            problems = tuple(sorted({home[name] for name in caught}))
            chosen.append(MissingRecipe(best[1], source, len(caught), problems))
    return chosen
