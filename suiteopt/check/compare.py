"""A candidate's outputs against the expected ones, in the referee's process."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suiteopt.check.wire import WireError, checked, describe, read
from suiteopt.export.templates.hardened_inputs import critical_tolerance
from suiteopt.matrix.oracle import Nonfinite
from suiteopt.matrix.schema import Statistic

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Rule:
    """A comparator with its tolerance and its policy for elements that are not finite."""

    comparator: str
    tolerance: float
    nonfinite: str

    @property
    def is_allclose(self) -> bool:
        """Whether it is ``torch.allclose(expected, got)``, word for word."""
        same = self.comparator == Statistic.ALLCLOSE_CANDIDATE
        return same and self.nonfinite == Nonfinite.TORCH


def compare(
    expected: "Sequence[Tensor]", header: Any, path: Path, rule: Rule, device: str, *, exact: bool
) -> dict[str, Any]:
    """Judge what a candidate's process wrote.

    Parameters
    ----------
    expected : sequence of Tensor
    header : Any
        Dtypes and shapes that the candidate's process announced; not trusted.
    path : Path
        The file that it wrote, not trusted.
    rule : Rule
    device : str
        Where to compute.
    exact : bool
        Whether ``torch.allclose`` itself decides where the rule is that one, for a benchmark's own
        check; within rounding of the tolerance the critical tolerance may decide otherwise.

    Returns
    -------
    dict
        ``accepted``, ``critical`` (the smallest tolerance that accepts; None where none does) and
        ``why`` not.
    """
    import torch

    try:
        checked_header = checked(header)
        differs = difference(checked_header, [describe(tensor) for tensor in expected])
        if differs:
            return _refused(differs)
        got = read(path, checked_header)
    except WireError as error:
        return _refused(str(error))
    worst, close = 0.0, True
    for one, other in zip(expected, got, strict=True):
        theirs, ours = _real(one.to(device)), _real(other.to(device))
        critical, bad = critical_tolerance(theirs, ours, rule.comparator, rule.nonfinite)
        if bad:
            return _refused(f"{bad} of {one.numel()} elements are not finite, or unlike")
        worst = max(worst, critical)
        if exact and rule.is_allclose and theirs.dtype != torch.bool:
            t = rule.tolerance
            close = close and torch.allclose(theirs, ours, atol=t, rtol=t)
        else:
            close = close and critical <= rule.tolerance
    finite = math.isfinite(worst)
    shown = f"{worst:.3g}" if finite else "infinite"
    why = "" if close else f"{rule.comparator} is {shown}, above {rule.tolerance:.3g}"
    return {"accepted": close, "critical": worst if finite else None, "why": why}


def difference(got: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> str:
    """Return how outputs differ in number, shape or dtype, or nothing."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs and not {len(wanted)}"
    for one, other in zip(got, wanted, strict=True):
        for key in ("shape", "dtype"):
            if one[key] != other[key]:
                return f"{key} {one[key]} and not {other[key]}"
    return ""


def _real(tensor: "Tensor") -> "Tensor":
    import torch

    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def _refused(why: str) -> dict[str, Any]:
    return {"accepted": False, "critical": None, "why": why}
