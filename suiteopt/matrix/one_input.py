"""Kill tables of one input alone, and tables whose inputs have tolerances of their own."""

from collections.abc import Mapping
from dataclasses import fields, replace

from scipy.sparse import csr_array

from suiteopt.matrix.kill import KillTable, kill_table, load_block
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.verdict import CellBlock


def input_table(
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


def with_tolerances(matrix: Matrix, table: KillTable, tolerances: Mapping[str, float]) -> KillTable:
    """Return a kill table in which some inputs are judged at tolerances of their own.

    Parameters
    ----------
    matrix : Matrix
    table : KillTable
        Without mutants of locked rules.
    tolerances : mapping of str to float
        By input, in units of the comparator; those of other problems are passed over.

    Returns
    -------
    KillTable
        With the kills, slacks and rejected controls of these columns; which inputs may be chosen
        is as it was.
    """
    mine = {name: value for name, value in tolerances.items() if name in table.inputs}
    if not mine:
        return table
    kills, slack = table.kills.toarray(), table.slack.toarray()
    in_force, rejections = table.tolerances.copy(), table.control_rejections.copy()
    block = load_block(matrix, table.problem, table.oracle)
    for name, value in mine.items():
        one = input_table(matrix, table.problem, table.oracle.at(value), name, block=block)
        column = table.inputs.index(name)
        kills[:, column] = one.kills[:, [column]].toarray()[:, 0]
        slack[:, column] = one.slack[:, [column]].toarray()[:, 0]
        in_force[column] = value
        rejections[:, column] = one.control_rejections[:, column]
    return replace(
        table,
        kills=csr_array(kills),
        slack=csr_array(slack),
        tolerances=in_force,
        control_rejections=rejections,
    )
