"""What the base task of a problem finds out about each input: validity, floors, cost, traits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpu_eval.campaign.cases import CaseFactory, InvalidInputError, Prepared
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.campaign.tasks import InputFacts, Subject
from gpu_eval.devices.base import Outcome
from gpu_eval.problems import expressions
from gpu_eval.problems.definition import Problem, Tensors
from gpu_eval.problems.tensors import dimensions, floors
from suiteopt.matrix.schema import MEASURED_STATUSES, Count, Kind, Statistic, Status

if TYPE_CHECKING:
    from torch import Tensor

TRUST_FACTOR = 8.0
"""A substrate is trusted, and a mutant witnessed, at this many times max(controls, floor)."""

LOOSE_TOLERANCE = 1e-2
"""The loosest tolerance that the benchmark was published with: zeros that pass it are a defect."""

STRICT_TOLERANCE = 1e-4
"""The benchmark's own tolerance for fp32 today, which its reference must meet against fp64."""


def invalid(reason: str) -> InputFacts:
    """Return the facts of an input that the reference cannot do."""
    return InputFacts(False, reason, {}, 0, 0.0, float("nan"), {"reference_fails": True})


class BaseObserver:
    """Collects, input by input, what references, substrates, controls and nulls show."""

    def __init__(self, problem: Problem, factory: CaseFactory) -> None:
        self._problem = problem
        self._factory = factory

    def begin(self, pool_input: PoolInput, prepared: Prepared, reference: Outcome) -> None:
        """Start an input; ``reference`` is the judgement of the own reference on itself."""
        case = prepared.case
        sizes = dimensions(self._problem, pool_input.shape)
        length = expressions.evaluate(self._problem.reduction_length, sizes)
        self._floors = {
            str(name): float(value)
            for name, value in floors(
                self._problem, case.tensors, case.reference, length, pool_input.exact
            ).items()
        }
        self._bytes = prepared.bytes
        self._reference = reference.statistics.get(Statistic.TRUTH_RMS, float("inf"))
        self._worst_control = self._reference
        self._substrates: list[tuple[Subject, Outcome]] = []
        self._seconds = 0.0
        outputs = list(case.reference.values())
        self._traits = {
            "constant": all(_is_constant(output) for output in outputs),
            "near_zero": all(_largest(output) <= LOOSE_TOLERANCE for output in outputs),
            "random_reference": not self._repeats(case.tensors, case.reference),
            "reference_beyond_tolerance": (
                reference.statistics.get(Statistic.TRUTH_ALLCLOSE, float("inf")) > STRICT_TOLERANCE
            ),
            "reference_fails": False,
            "zeros_pass": False,
        }

    def observe(self, subject: Subject, outcomes: Sequence[Outcome]) -> None:
        """Take in the runs of one implementation on the current input."""
        if subject.kind == Kind.SUBSTRATE:
            self._substrates += [(subject, outcome) for outcome in outcomes]
            self._seconds = max(self._seconds, outcomes[0].seconds)
        elif subject.kind == Kind.CONTROL and not subject.blind:
            for outcome in outcomes:
                if outcome.status in MEASURED_STATUSES:
                    error = outcome.statistics[Statistic.TRUTH_RMS]
                    self._worst_control = max(self._worst_control, error)
        elif subject.kind == Kind.NULL and subject.name == "zeros":
            (outcome,) = outcomes
            self._traits["zeros_pass"] = (
                outcome.status == Status.OK
                and outcome.statistics[Statistic.ALLCLOSE_CANDIDATE] <= LOOSE_TOLERANCE
                and outcome.counts[Count.NAN_BOTH] == 0
            )

    def facts(self) -> InputFacts:
        """Return what the current input is like."""
        reason = self._distrust()
        return InputFacts(
            valid=not reason,
            reason=reason,
            floors=self._floors,
            bytes=self._bytes,
            seconds=self._seconds,
            reference_error=self._reference,
            traits=self._traits,
        )

    def _distrust(self) -> str:
        """Say why a substrate is not to be trusted on this input; empty if all are."""
        limit = TRUST_FACTOR * max(self._worst_control, self._floors.get(Statistic.RMS, 0.0))
        for subject, outcome in self._substrates:
            # A NaN or infinity that the reference has, too, is no fault of the substrate.
            agrees = outcome.status == Status.NONFINITE and not mismatches(outcome)
            if outcome.status != Status.OK and not agrees:
                text = f": {outcome.message}" if outcome.message else ""
                return f"the substrate {subject.name} gives {outcome.status}{text}"[:300]
            error = outcome.statistics[Statistic.TRUTH_RMS]
            if error > limit:
                return (
                    f"the substrate {subject.name} is off by {error:.3g} x RMS, more than "
                    f"{TRUST_FACTOR:g} times the controls and the rounding floor ({limit:.3g})"
                )
        return ""

    def _repeats(self, tensors: Tensors, reference: Tensors) -> bool:
        import torch

        try:
            again = self._factory.reference(tensors)
        except InvalidInputError:
            return False
        return all(
            torch.equal(_bits(output), _bits(again[name])) for name, output in reference.items()
        )


def mismatches(outcome: Outcome) -> int:
    """Return how many elements are non-finite on one side only, or differently."""
    return outcome.counts[Count.NAN_ONE] + outcome.counts[Count.INF_MISMATCH]


def _is_constant(output: "Tensor") -> bool:
    # A single number is the same everywhere and says nothing.
    return output.numel() > 1 and bool((output == output.flatten()[0]).all())


def _largest(output: "Tensor") -> float:
    return float(output.abs().max()) if output.numel() else 0.0


def _bits(output: "Tensor") -> "Tensor":
    import torch

    # NaN differs from itself; its bits do not.
    return output.view(torch.int32) if output.dtype == torch.float32 else output
