"""From a choice to the suite that is written and exported."""

import json
from typing import Any

from suiteopt.matrix.store import Matrix
from suiteopt.selection.comparators import comparator_of, input_of, input_rows
from suiteopt.selection.problem_report import ProblemSelection
from suiteopt.selection.report import MatrixSelection
from suiteopt.suite import Member, ProblemSuite, Suite


def to_suite(selection: MatrixSelection, matrix: Matrix, command: str) -> Suite:
    """Build the suite of a choice.

    A problem for which nothing was chosen is not in the suite: its benchmark stays as it is.

    Parameters
    ----------
    selection : MatrixSelection
    matrix : Matrix
        The one that it was made from.
    command : str
        The command line, for the record.

    Raises
    ------
    ValueError
        If the matrix is another one.
    """
    if matrix.id != selection.matrix_id:
        raise ValueError("the selection was made from another matrix")
    return Suite(
        matrix_id=matrix.id,
        matrix_device=selection.matrix_device,
        oracle=selection.oracle,
        target=selection.target,
        budget=selection.budget,
        command=command,
        problems=tuple(
            _problem(part, selection.comparator, matrix)
            for part in selection.problems
            if part.selection.members
        ),
    )


def _problem(part: ProblemSelection, comparator: str, matrix: Matrix) -> ProblemSuite:
    row = matrix.problem(part.problem)
    found_rows = input_rows(matrix, part.problem, part.selection.members)
    chosen: list[dict[Any, Any]] = found_rows.to_dict("records")
    members = tuple(
        Member(
            input=input_of(name),
            values=json.loads(found["values"]),
            parameters=json.loads(found["parameters"]),
            shape=json.loads(found["shape"]),
            shape_recipe=str(found["shape_recipe"]),
            seed=int(found["seed"]),
            tolerance=tolerance,
            comparator=comparator_of(name, comparator),
            needs=tuple(str(need) for need in found["needs"]),
            reduction_ratio=float(found["reduction_ratio"]),
        )
        for name, found, tolerance in zip(
            part.selection.members, chosen, part.tolerances, strict=True
        )
    )
    return ProblemSuite(
        problem=part.problem,
        benchmark=str(row["benchmark"]),
        level=int(row["level"]),
        name=str(row["name"]),
        dtype=str(row["dtype"]),
        members=members,
        mutants=part.selection.total,
        detected=part.selection.detected,
    )
