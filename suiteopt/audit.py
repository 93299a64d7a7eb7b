"""Score a check on a matrix: what it detects, by family, and whom it wrongs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suiteopt.matrix.denominator import Denominator, denominator_mask, shows_in_output
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import Protocol, protocol_detects, protocol_inputs, protocol_table
from suiteopt.selection.report import Tally


@dataclass(frozen=True)
class Audit:
    """What a protocol does to the faults and controls of a matrix.

    Attributes
    ----------
    protocol : str
    tally : Tally
        Mutants of the denominator, and those that the protocol detects.
    by_family : mapping of str to Tally
    by_problem : mapping of str to Tally
    in_output : Tally
        Those that an exception or a wrong output witnesses.
    false_rejections, control_cells : int
        Control cells on the protocol's inputs: rejected, and all that ran.
    """

    protocol: str
    tally: Tally
    by_family: Mapping[str, Tally]
    by_problem: Mapping[str, Tally]
    in_output: Tally
    false_rejections: int
    control_cells: int

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "protocol": self.protocol,
            "mutants": self.tally.mutants,
            "detected_share": self.tally.share,
            "missed_share": self.tally.missed_share,
            "by_family": {
                name: {
                    "mutants": tally.mutants,
                    "detected": tally.detected,
                    "missed_share": tally.missed_share,
                }
                for name, tally in self.by_family.items()
            },
            "false_rejections": {
                "controls": self.control_cells,
                "rejected": self.false_rejections,
            },
        }


def audit(
    matrix: Matrix, protocol: Protocol, denominator: Denominator = Denominator.WITNESSED
) -> Audit:
    """Run a protocol on a matrix.

    Parameters
    ----------
    matrix : Matrix
    protocol : Protocol
    denominator : Denominator
        Which mutants count.

    Raises
    ------
    UserError
        If the matrix lacks an input of the protocol or cannot answer its oracle.
    """
    by_family: dict[str, Tally] = {}
    by_problem: dict[str, Tally] = {}
    in_output = Tally(0, 0)
    rejected = cells = 0
    for problem in matrix.measured_problems:
        table = protocol_table(matrix, problem, protocol)
        columns = [table.inputs.index(name) for name in protocol_inputs(matrix, problem, protocol)]
        mutants = table.rows(Kind.MUTANT)
        counted = denominator_mask(matrix, table, denominator)[mutants]
        killed = protocol_detects(matrix, problem, protocol, table=table)[counted]
        names = [table.implementations[row] for row in mutants[counted]]
        details = matrix.implementations_of(problem).set_index("implementation").loc[names]
        shows = shows_in_output(details)
        in_output += Tally(int(shows.sum()), int((shows & killed).sum()))
        by_problem[problem] = Tally(len(names), int(killed.sum()))
        for family, dies in zip(details["family"].astype(str), killed, strict=True):
            by_family[family] = by_family.get(family, Tally(0, 0)) + Tally(1, int(dies))
        ran = table.control_ran[:, columns]
        rejected += int((table.control_rejections[:, columns] & ran).sum())
        cells += int(ran.sum())
    return Audit(
        protocol=protocol.name,
        tally=sum(by_problem.values(), Tally(0, 0)),
        by_family=dict(sorted(by_family.items())),
        by_problem=by_problem,
        in_output=in_output,
        false_rejections=rejected,
        control_cells=cells,
    )
