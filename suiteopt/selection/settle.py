"""Oracles that only a matrix settles: a safety, or a fixed tolerance, that its controls ask for."""

from dataclasses import replace

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import Oracle, calibrated
from suiteopt.matrix.store import Matrix
from suiteopt.selection.comparators import parse_any
from suiteopt.selection.constraints import Capabilities
from suiteopt.selection.fixed import BEST_FIXED, best_fixed
from suiteopt.selection.question import Question, ask
from suiteopt.selection.safety import choose_safety, held_out_kinds

HELD_OUT_SAFETY = "calibrated:held-out"


def settle(
    matrix: Matrix,
    oracle: Oracle | str | None,
    budget: int,
    capabilities: Capabilities | None = None,
    denominator: Denominator = Denominator.WITNESSED,
    locked: bool = False,
    incomplete: bool = False,
    solver: str = "auto",
) -> Question:
    """Settle what is asked of a matrix.

    Beside what `suiteopt.selection.question.ask` takes:

    - ``calibrated:held-out``: the smallest safety of a grid with the fewest rejections of control
      kinds that did not calibrate;
    - ``best-fixed``: the one tolerance of torch's allclose at which the suites detect most, while
      no control is rejected on a member;
    - ``any-comparator``, ``any-comparator:<safety>``: calibrated, with a comparator an input.

    Raises
    ------
    UserError
        As `ask`; or if no tolerance lets any input be chosen.
    """
    if isinstance(oracle, str):
        opened = parse_any(oracle)
        if opened is not None:
            return ask(opened, capabilities, denominator, locked, incomplete)
        if oracle == HELD_OUT_SAFETY:
            kinds = [held_out_kinds(matrix, p, calibrated()) for p in matrix.measured_problems]
            return ask(
                calibrated(choose_safety(kinds)), capabilities, denominator, locked, incomplete
            )
        if oracle == BEST_FIXED:
            if capabilities is not None and capabilities.oracle is not None:
                raise UserError(
                    f"the target judges by its own oracle, {capabilities.oracle}, not by "
                    f"{BEST_FIXED}; leave --oracle out or choose another target"
                )
            question = ask("fixed:0", capabilities, denominator, locked, incomplete)
            return replace(question, oracle=best_fixed(matrix, question, budget, solver))
    return ask(oracle, capabilities, denominator, locked, incomplete)
