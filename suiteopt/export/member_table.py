"""The kill table of one member: its oracle asked about its own input and no other."""

from dataclasses import fields

from suiteopt.matrix.kill import KillTable, kill_table, load_block
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.verdict import CellBlock


def member_table(
    matrix: Matrix,
    problem: str,
    oracle: Oracle,
    input_id: str,
    *,
    include_locked: bool = False,
    block: CellBlock | None = None,
) -> KillTable:
    """Judge the cells of one input: its tolerance need not be one that others can answer.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    oracle : Oracle
    input_id : str
    include_locked : bool
        Whether mutants of locked rules are rows, too.
    block : CellBlock, optional
        All cells of the problem under the oracle's comparator, where they are at hand.

    Returns
    -------
    KillTable
        With all inputs as columns; nothing ran on the others.
    """
    whole = load_block(matrix, problem, oracle) if block is None else block
    here = whole.columns == layout_of(matrix, problem).columns[input_id]
    cells = CellBlock(**{f.name: getattr(whole, f.name)[here] for f in fields(CellBlock)})
    return kill_table(matrix, problem, oracle, include_locked=include_locked, block=cells)
