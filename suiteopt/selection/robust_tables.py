"""Tables of the held-out objective: the mutants of all problems, seen through one's columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.bank import BANK_CELLS, bank_cells, make_bank
from suiteopt.selection.case import Case, spans
from suiteopt.selection.comparators import comparator_of, input_rows
from suiteopt.selection.cuts import dense_part
from suiteopt.selection.instance import Instance
from suiteopt.selection.robust import Problem
from suiteopt.selection.robust_pool import Pool

Key = tuple[str, ...]


def too_large(case: Case, budget: int) -> bool:
    """Tell whether a problem has more suites and mutants than can be tabled."""
    return bank_cells(case.instance, budget) > BANK_CELLS


@dataclass(frozen=True, eq=False)
class Tables:
    """The mutants of all problems by recipe, from which each problem's own table is cut.

    Attributes
    ----------
    found : tuple of Case
    budget : int
    pool : Pool
    operations : ndarray of intp
        Number of the operation class of each problem.
    vectors : ndarray of bool, shape (kinds, recipes)
        Different kills by recipe.
    alike : ndarray of intp, shape (all mutants,)
        Which of them a mutant has.
    places : tuple of mapping of str to int
        The recipe of every input of each problem.
    spans : tuple of slice
        Where the mutants of each problem stand.
    """

    found: tuple[Case, ...]
    budget: int
    pool: Pool
    operations: NDArray[np.intp]
    vectors: NDArray[np.bool_]
    alike: NDArray[np.intp]
    places: tuple[Mapping[str, int], ...]
    spans: tuple[slice, ...]

    def problem(self, place: int, instance: Instance | None = None) -> Problem:
        """Look at all mutants through one problem's columns.

        Parameters
        ----------
        place : int
            Of the problem.
        instance : Instance, optional
            Its mutants under other tolerances; the case's by default. The other problems stay.
        """
        case = self.found[place]
        instance = case.instance if instance is None else instance
        given = instance.given > 0
        mine = np.column_stack([instance.kills | given[:, None], given])
        foreign = self.vectors[:, [self.places[place][name] for name in instance.inputs]]
        foreign = np.column_stack([foreign, np.zeros(len(foreign), dtype=np.bool_)])
        kinds, of_rows = _distinct(np.concatenate([foreign, mine]))
        of_mutants = of_rows[self.alike]
        of_mutants[self.spans[place]] = of_rows[len(foreign) :]
        return Problem(
            case=case,
            bank=make_bank(instance, self.budget),
            pool=self.pool,
            span=self.spans[place],
            operation=int(self.operations[place]),
            kinds=of_mutants,
            killers=np.ascontiguousarray(kinds.T),
        )


def tables(matrix: Matrix, found: Sequence[Case], budget: int) -> Tables:
    """Put the mutants of all problems side by side.

    Parameters
    ----------
    matrix : Matrix
    found : sequence of Case
    budget : int

    Raises
    ------
    UserError
        If there are too many small suites to table.
    """
    for case in found:
        if too_large(case, budget):
            raise UserError(
                f"the objective held-out tables all suites of up to {budget} inputs, which are too "
                f"many for {case.problem}; give a smaller --budget or --objective coverage"
            )
    keys = [_keys(matrix, case, case.table.inputs) for case in found]
    numbers = {key: place for place, key in enumerate(sorted({key for own in keys for key in own}))}
    seen = [_by_recipe(case, own, numbers) for case, own in zip(found, keys, strict=True)]
    nothing = np.zeros((0, len(numbers)), dtype=np.bool_)
    vectors, alike = _distinct(np.concatenate([nothing, *seen]))
    labels = [classes(case) for case in found]
    operations = _numbered(
        [(str(matrix.problem(case.problem)["operation_class"]),) for case in found]
    )
    sizes = [len(case.instance.mutants) for case in found]
    return Tables(
        found=tuple(found),
        budget=budget,
        pool=Pool(
            _numbered([label for own in labels for label in own]),
            np.repeat(operations, sizes),
            int(operations.max(initial=-1)) + 1,
        ),
        operations=operations,
        vectors=vectors,
        alike=alike,
        places=tuple(
            {name: numbers[key] for name, key in zip(case.table.inputs, own, strict=True)}
            for case, own in zip(found, keys, strict=True)
        ),
        spans=spans(found),
    )


def prepare(matrix: Matrix, found: Sequence[Case], budget: int) -> tuple[Problem, ...]:
    """Build the tables of all problems: see `tables`."""
    whole = tables(matrix, found, budget)
    return tuple(whole.problem(place) for place in range(len(found)))


def _numbered(labels: Sequence[Key]) -> NDArray[np.intp]:
    """Number labels in their order."""
    numbers = {label: number for number, label in enumerate(sorted(set(labels)))}
    return np.array([numbers[label] for label in labels], dtype=np.intp)


def _distinct(table: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Distinct rows, and the number of the one that each row equals."""
    packed = np.packbits(np.column_stack([table, np.ones(len(table), dtype=np.bool_)]), axis=1)
    rows = np.ascontiguousarray(packed).view([("", np.uint8)] * packed.shape[1]).ravel()
    _, first, numbers = np.unique(rows, return_index=True, return_inverse=True)
    return table[first], np.asarray(numbers.ravel(), dtype=np.intp)


def _keys(matrix: Matrix, case: Case, columns: Sequence[str]) -> list[Key]:
    """What an input is, whatever the problem: its recipes, and what it is compared by."""
    rows = input_rows(matrix, case.problem, columns)
    recipes = zip(
        rows["value_recipe"].astype(str),
        rows["parameter_recipe"].astype(str),
        rows["shape_recipe"].astype(str),
        strict=True,
    )
    comparator = case.table.oracle.comparator
    return [
        (*recipe, comparator_of(name, comparator))
        for recipe, name in zip(recipes, columns, strict=True)
    ]


def classes(case: Case) -> list[Key]:
    """Rule and kind of site of a problem's mutants."""
    return [
        ("+".join(rules), "+".join(sorted({file.rpartition(".")[2] for file in files})))
        for rules, files in zip(case.rules, case.about.files, strict=True)
    ]


def _by_recipe(case: Case, keys: Sequence[Key], numbers: Mapping[Key, int]) -> NDArray[np.bool_]:
    """Kills of a problem's mutants by recipe; nothing where the problem lacks it.

    Of several inputs by the same recipe the first one counts.
    """
    places: dict[Key, int] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, place)
    shared = [key for key in numbers if key in places]
    columns = [places[key] for key in shared]
    kills = dense_part(case.table.kills, case.rows_of(case.table), columns)
    seen = np.zeros((len(kills), len(numbers)), dtype=np.bool_)
    seen[:, [numbers[key] for key in shared]] = kills & np.isfinite(case.table.tolerances[columns])
    return seen
