"""The error sizes that a protocol cannot see, against the length of the reduction."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suiteopt.audit.band_faults import FaultErrors
from suiteopt.audit.band_model import OutputScale, band, linear_law, root_law
from suiteopt.audit.critical import critical_table, worst
from suiteopt.audit.nulls import null_name
from suiteopt.errors import UserError
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.schema import Kind, ShapeScope, Statistic
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import Protocol, judged_problems

SHORTENED = "the reduction was shortened"
"""How the reason begins for which most problems of a small profile are left out."""


@dataclass(frozen=True)
class BandRow:
    """The blind band of one problem.

    Attributes
    ----------
    problem, operation : str
    length : int
        Terms of the contract's reduction.
    inputs : int
        The protocol's inputs, all of full length.
    tolerance : float
        In force.
    band : float
        The largest relative error on every output element that is accepted on all of them,
        from the size of the reference's outputs; above 1, an output of zeros passes.
    accepted, rejected : float or None
        Measured on mutants whose relative error is the same everywhere: the largest that the
        protocol accepts, the smallest that it rejects. The band lies between them.
    accepted_by, rejected_by : str
        The mutants.
    worst_accepted : float or None
        The largest RMS error, relative to the truth's RMS, of any mutant that it accepts.
    worst_accepted_by : str
    control : float or None
        The worst correct kernel's max d / RMS on these inputs.
    floor : float
        The same by the rounding model, the problem's condition included.
    """

    problem: str
    operation: str
    length: int
    inputs: int
    tolerance: float
    band: float
    accepted: float | None
    accepted_by: str
    rejected: float | None
    rejected_by: str
    worst_accepted: float | None
    worst_accepted_by: str
    control: float | None
    floor: float

    @property
    def terms(self) -> int | None:
        """How many of n equal positive terms may be left out unseen; None for an infinite band."""
        return None if math.isinf(self.band) else min(self.length, int(self.band * self.length))

    @property
    def times_control(self) -> float | None:
        """How many times the band exceeds what the worst correct kernel needs."""
        return self.band / self.control if self.control else None

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "problem": self.problem,
            "operation": self.operation,
            "reduction_length": self.length,
            "inputs": self.inputs,
            "tolerance": self.tolerance,
            "band": self.band,
            "uniform_accepted": self.accepted,
            "uniform_accepted_by": self.accepted_by,
            "uniform_rejected": self.rejected,
            "uniform_rejected_by": self.rejected_by,
            "worst_accepted_rms_error": self.worst_accepted,
            "worst_accepted_by": self.worst_accepted_by,
            "terms": self.terms,
            "control_rms": self.control,
            "floor_rms": self.floor,
            "root_law": root_law(self.length),
            "linear_law": linear_law(self.length),
            "times_control": self.times_control,
        }


@dataclass(frozen=True)
class BlindBand:
    """The blind band of a protocol on a matrix.

    Attributes
    ----------
    protocol, label : str
    rows : tuple of BandRow
        By operation class, then length.
    left_out : mapping of str to str
        Problems that say nothing, and why.
    """

    protocol: str
    label: str
    rows: tuple[BandRow, ...]
    left_out: Mapping[str, str]

    @property
    def slopes(self) -> dict[str, float | None]:
        """By operation class: the exponent with which correct kernels' error grows with n.

        A least-squares line through log10(control) against log10(n); 0.5 is the law of
        independent roundings, 1 that of the worst case. None under three lengths.
        """
        classes: dict[str, list[BandRow]] = {}
        for row in self.rows:
            classes.setdefault(row.operation, []).append(row)
        return {name: _slope(rows) for name, rows in sorted(classes.items())}

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "protocol": self.protocol,
            "label": self.label,
            "rows": [row.as_dict() for row in self.rows],
            "exponents": self.slopes,
            "left_out": dict(self.left_out),
        }


def blind_band(matrix: Matrix, protocol: Protocol) -> BlindBand:
    """Measure the blind band of a protocol on every problem measured at full length.

    How large the reference's outputs are is read off the null that returns zeros, whose error is
    the output itself.

    Parameters
    ----------
    matrix : Matrix
    protocol : Protocol

    Raises
    ------
    UserError
        If no problem was measured at the contract's reduction length, every problem lacks an
        input of the protocol, or the matrix a statistic.
    """
    rows: list[BandRow] = []
    judged = judged_problems(matrix, protocol)
    left_out = dict(judged.left_out)
    for problem, names in judged.inputs.items():
        used = matrix.inputs_of(problem).set_index("input").loc[list(names)]
        ratio = float(used["reduction_ratio"].min())
        shortened = (used["scope"] != str(ShapeScope.CONTRACT)).any()
        if shortened or ratio != 1.0:
            left_out[problem] = f"{SHORTENED} to {ratio:.3g} of the contract's"
            continue
        scales = _scales(matrix, problem, names)
        if not scales:
            left_out[problem] = "no null that returns zeros tells how large the outputs are"
            continue
        rows.append(_row(matrix, problem, protocol, names, scales))
    if not rows:
        raise UserError(
            f"the matrix at {matrix.path} has no full-length cells for {protocol.name}, so it says "
            "nothing about the blind band; measure one at the contract's reduction lengths "
            "(a GPU profile)"
        )
    rows.sort(key=lambda row: (row.operation, row.length, row.problem))
    return BlindBand(protocol.name, matrix.meta.label, tuple(rows), left_out)


def _scales(matrix: Matrix, problem: str, names: Sequence[str]) -> list[OutputScale]:
    tables = [critical_table(matrix, problem, s) for s in (Statistic.MAX_ABS, Statistic.RMS)]
    zeros = [
        index
        for index in tables[0].rows(Kind.NULL)
        if null_name(tables[0].implementations[index], problem) == "zeros"
    ]
    if not zeros:
        return []
    columns = tables[0].columns(tuple(names))
    largest, peak = (table.high[zeros[0], columns] for table in tables)
    usable = np.isfinite(largest) & np.isfinite(peak)
    pairs = zip(largest[usable], peak[usable], strict=True)
    return [OutputScale(float(most), float(times)) for most, times in pairs]


def _row(
    matrix: Matrix,
    problem: str,
    protocol: Protocol,
    names: Sequence[str],
    scales: Sequence[OutputScale],
) -> BandRow:
    about = matrix.problem(problem)
    tolerances = kill_table(matrix, problem, protocol.oracle).tolerances
    rms = critical_table(matrix, problem, Statistic.RMS)
    columns = rms.columns(tuple(names))
    tolerance = float(tolerances[columns].max())
    floors = matrix.inputs_of(problem)[f"floor_{Statistic.RMS}"].to_numpy(dtype=np.float64)[columns]
    control = float(worst(rms.high[rms.rows(Kind.CONTROL)][:, columns]))
    measured = FaultErrors(matrix, problem, protocol, columns)
    accepted, accepted_by = measured.extreme(measured.uniform, accepted=True)
    rejected, rejected_by = measured.extreme(measured.uniform, accepted=False)
    worst_accepted, worst_by = measured.extreme(measured.energy, accepted=True)
    return BandRow(
        problem=problem,
        operation=str(about["operation_class"]),
        length=int(about["reduction_length"]),
        inputs=len(names),
        tolerance=tolerance,
        band=min(band(protocol.oracle.comparator, tolerance, scale) for scale in scales),
        accepted=accepted,
        accepted_by=accepted_by,
        rejected=rejected,
        rejected_by=rejected_by,
        worst_accepted=worst_accepted,
        worst_accepted_by=worst_by,
        control=None if np.isnan(control) else control,
        floor=float(floors.max()),
    )


def _slope(rows: Sequence[BandRow]) -> float | None:
    points = {row.length: row.control for row in rows if row.control and row.length > 1}
    if len(points) < 3:
        return None
    lengths = np.log10(list(points))
    errors = np.log10([float(value) for value in points.values() if value])
    return float(np.polyfit(lengths, errors, 1)[0])
