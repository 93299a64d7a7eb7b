"""Judging integer outputs (argmax and its kin), on any device, in torch.

Against the benchmark's own reference indices are compared as numbers, as the benchmark's
``allclose`` does: 3,990 passes for 4,000 at 1e-2. Against the truth it is the *values at the
indices* that count, in fp64: another index of an equal element is no error, and how far off a
wrong one is says the gap in value. An index out of range is a wrong value, infinitely far off.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpu_eval.devices.base import Case, Outcome
from suiteopt.errors import UserError
from suiteopt.matrix.schema import COUNTS, STATISTICS, Count, Statistic, Status

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class IntegerJudgement:
    """What integer outputs are worth.

    Attributes
    ----------
    statistics : mapping of Statistic to float
        Own statistics of the integers as fp64 numbers, truth statistics of the values they
        choose; maxima over output tensors.
    counts : mapping of Count to int
        All 0: an integer is finite.
    wrong, positions : int
        How many positions differ from the truth in value, of how many in all.
    """

    statistics: Mapping[Statistic, float]
    counts: Mapping[Count, int]
    wrong: int
    positions: int


def has_integer_outputs(case: Case) -> bool:
    """Whether a case's outputs are integers.

    Raises
    ------
    UserError
        If only some of them are.
    """
    floating = {output.is_floating_point() for output in case.reference.values()}
    if len(floating) > 1:
        raise UserError(
            "outputs are floats and integers at once, which cannot be judged together; "
            "make two problems of it"
        )
    return floating == {False}


def judge_integers(case: Case, outputs: "Mapping[str, Tensor]") -> IntegerJudgement:
    """Compare integer outputs with the own reference and with the truth.

    Parameters
    ----------
    case : Case
        ``truth`` holds what the reference chooses in fp64; ``value_of`` says what an index is
        worth (the integers themselves where there is none).
    outputs : mapping of str to Tensor
        Of the reference's shapes and dtypes.
    """
    import torch

    with torch.no_grad():
        chosen = _values(case, outputs)
        right = _values(case, case.truth)
        statistics = dict.fromkeys(STATISTICS, 0.0)
        wrong = positions = 0
        for name, reference in case.reference.items():
            found = _own(outputs[name].to(reference.device).double(), reference.double())
            gaps = _gaps(chosen[name].to(right[name].device), right[name])
            found |= _true(gaps, right[name])
            statistics |= {key: max(statistics[key], value) for key, value in found.items()}
            wrong += int((gaps > 0).sum())
            positions += gaps.numel()
    return IntegerJudgement(statistics, dict.fromkeys(COUNTS, 0), wrong, positions)


def rejudged(measured: Outcome, case: Case, outputs: "Mapping[str, Tensor]") -> Outcome:
    """Return a session's outcome with the statistics and counts of integer outputs.

    What a session finds out apart from them (an out-of-bounds write, an unwritten output, the
    hash, the time) is kept; integers are never non-finite.
    """
    judgement = judge_integers(case, outputs)
    status = Status.OK if measured.status is Status.NONFINITE else measured.status
    differing = f"{judgement.wrong} of {judgement.positions} positions differ in value"
    message = measured.message or (differing if judgement.wrong else "")
    return replace(
        measured,
        status=status,
        statistics=judgement.statistics,
        counts=judgement.counts,
        message=message,
    )


def _values(case: Case, indices: "Mapping[str, Tensor]") -> "Mapping[str, Tensor]":
    if case.value_of is None:
        return {name: tensor.double() for name, tensor in indices.items()}
    device = next(iter(case.tensors.values())).device
    return case.value_of(case.tensors, {n: t.to(device) for n, t in indices.items()})


def _own(output: "Tensor", reference: "Tensor") -> dict[Statistic, float]:
    import torch

    if not output.numel():
        return {}
    d, scale = (output - reference).abs(), reference.abs()
    relative = torch.where(d > 0, d / scale, 0.0)
    largest = float(d.max())
    return {
        Statistic.ALLCLOSE_CANDIDATE: float((d / (1 + output.abs())).max()),
        Statistic.ALLCLOSE_REFERENCE: float((d / (1 + scale)).max()),
        Statistic.MAX_ABS: largest,
        Statistic.MAX_REL: float(relative.max()),
        Statistic.EITHER_OR: float(torch.minimum(d, relative).max()),
        Statistic.GLOBAL: largest / (1 + float(scale.max())),
        Statistic.RMS: _ratio(largest, math.sqrt(float(scale.square().mean()))),
    }


def _gaps(chosen: "Tensor", right: "Tensor") -> "Tensor":
    """Return |chosen - right|: 0 where both are equal or NaN, infinite where only one is finite."""
    import torch

    same = (chosen == right) | (chosen.isnan() & right.isnan())
    gap = (chosen - right).abs().nan_to_num(math.inf, math.inf)
    return torch.where(same, 0.0, gap)


def _true(gaps: "Tensor", right: "Tensor") -> dict[Statistic, float]:
    if not gaps.numel():
        return {}
    finite = right[right.isfinite()]
    scale = math.sqrt(float(finite.square().mean())) if finite.numel() else 0.0
    return {
        Statistic.TRUTH_ALLCLOSE: float((gaps / (1 + right.abs().nan_to_num(0.0, 0.0, 0.0))).max()),
        Statistic.TRUTH_RMS: _ratio(float(gaps.max()), scale),
        Statistic.TRUTH_RMS_ERROR: _ratio(math.sqrt(float(gaps.square().mean())), scale),
    }


def _ratio(d: float, scale: float) -> float:
    if d == 0:
        return 0.0
    return d / scale if scale > 0 else math.inf
