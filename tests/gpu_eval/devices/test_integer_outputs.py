"""Integer outputs: ties are right, gaps count in value, the benchmark compares indices."""

import math
import shutil
from collections.abc import Mapping

import pytest
import torch

from gpu_eval.devices.base import Case, Outcome
from gpu_eval.devices.integer_outputs import has_integer_outputs, judge_integers, rejudged
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.nulls import NULLS
from gpu_eval.problems.tensors import values_at
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Count, Statistic, Status

X = torch.tensor([[3.0, 1.0], [3.0, 5.0], [-2.0, 4.0]])  # the largest: 3 (twice) and 5


def value_of(
    tensors: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]
) -> Mapping[str, torch.Tensor]:
    return {"y": values_at(tensors["x"], outputs["y"], 0)}


def made(x: torch.Tensor = X, worth: bool = True) -> Case:
    y = x.argmax(dim=0)
    return Case("case", {"x": x}, {"y": y}, {"y": y}, value_of if worth else None)


def indices(*values: int) -> dict[str, torch.Tensor]:
    return {"y": torch.tensor(values)}


def test_the_right_indices_differ_nowhere() -> None:
    judgement = judge_integers(made(), indices(0, 1))
    assert set(judgement.statistics.values()) == {0.0}
    assert (judgement.wrong, judgement.positions) == (0, 2)


def test_a_tie_is_right_in_value_and_wrong_to_the_benchmark() -> None:
    judgement = judge_integers(made(), indices(1, 1))
    statistics = judgement.statistics
    assert judgement.wrong == 0
    assert statistics[Statistic.TRUTH_RMS] == statistics[Statistic.TRUTH_RMS_ERROR] == 0
    assert statistics[Statistic.MAX_ABS] == 1
    assert statistics[Statistic.ALLCLOSE_CANDIDATE] == 0.5  # 1 off, 1 + 1
    assert statistics[Statistic.ALLCLOSE_REFERENCE] == 1.0  # 1 off, 1 + 0
    assert statistics[Statistic.MAX_REL] == math.inf
    assert statistics[Statistic.EITHER_OR] == 1
    assert statistics[Statistic.GLOBAL] == 0.5
    assert statistics[Statistic.RMS] == pytest.approx(math.sqrt(2))


def test_a_wrong_index_counts_by_its_gap_in_value() -> None:
    judgement = judge_integers(made(), indices(0, 2))  # 4 for 5
    assert judgement.wrong == 1
    scale = math.sqrt((9 + 25) / 2)
    statistics = judgement.statistics
    assert statistics[Statistic.TRUTH_RMS] == pytest.approx(1 / scale)
    assert statistics[Statistic.TRUTH_RMS_ERROR] == pytest.approx(math.sqrt(0.5) / scale)
    assert statistics[Statistic.TRUTH_ALLCLOSE] == pytest.approx(1 / 6)


@pytest.mark.parametrize("wrong", [-1, 3, 2**62, -(2**63)])
def test_an_index_out_of_range_is_infinitely_wrong(wrong: int) -> None:
    judgement = judge_integers(made(), indices(0, wrong))
    assert judgement.wrong == 1
    for statistic in (Statistic.TRUTH_ALLCLOSE, Statistic.TRUTH_RMS, Statistic.TRUTH_RMS_ERROR):
        assert judgement.statistics[statistic] == math.inf
    assert judgement.statistics[Statistic.MAX_ABS] >= 2


def test_the_benchmarks_check_passes_neighbours_of_a_large_index() -> None:
    x = torch.zeros(4001, 1)
    x[4000] = 1
    judgement = judge_integers(made(x), indices(3990))
    own = judgement.statistics[Statistic.ALLCLOSE_CANDIDATE]
    assert own == pytest.approx(10 / 3991)
    reference, output = torch.tensor([4000]), torch.tensor([3990])
    assert torch.allclose(reference, output, atol=1e-2, rtol=1e-2)
    assert own < 1e-2
    assert judgement.wrong == 1
    assert judgement.statistics[Statistic.TRUTH_RMS] == 1


def test_without_values_the_integers_are_compared() -> None:
    judgement = judge_integers(made(worth=False), indices(1, 1))
    assert judgement.wrong == 1
    assert judgement.statistics[Statistic.TRUTH_ALLCLOSE] == 1


def test_nan_values_are_equal_to_themselves_alone() -> None:
    x = torch.tensor([[1.0], [math.nan], [2.0]])
    assert judge_integers(made(x), indices(1)).wrong == 0
    assert judge_integers(made(x), indices(2)).statistics[Statistic.TRUTH_ALLCLOSE] == math.inf


def test_empty_outputs_have_zero_everywhere() -> None:
    none = {"y": torch.zeros(0, dtype=torch.int64)}
    judgement = judge_integers(Case("e", {"x": torch.zeros(3, 0)}, none, none), none)
    assert set(judgement.statistics.values()) == {0.0}


def test_what_else_a_session_saw_is_kept() -> None:
    measured = Outcome(Status.OUT_OF_BOUNDS, output_hash=7, seconds=0.5, message="3 words")
    outcome = rejudged(measured, made(), indices(0, 0))
    assert (outcome.status, outcome.output_hash, outcome.message) == (
        Status.OUT_OF_BOUNDS,
        7,
        "3 words",
    )
    assert outcome.statistics[Statistic.TRUTH_RMS] > 0
    assert outcome.counts == dict.fromkeys(Count, 0)
    finite = rejudged(Outcome(Status.NONFINITE), made(), indices(0, 0))
    assert finite.status is Status.OK
    assert finite.message == "1 of 2 positions differ in value"


def test_floats_and_integers_at_once_are_refused() -> None:
    case = Case("m", {}, {"y": torch.zeros(2), "i": torch.zeros(2).long()}, {})
    with pytest.raises(UserError, match="cannot be judged together"):
        has_integer_outputs(case)
    assert has_integer_outputs(made())
    assert not has_integer_outputs(Case("f", {}, {"y": torch.zeros(2)}, {}))


@pytest.mark.skipif(shutil.which("g++") is None, reason="the host device needs g++")
def test_the_host_device_judges_integers() -> None:
    with open_device("cpu").open() as session:
        case = made()
        session.bind(case)
        assert session.judge(case.reference).statistics[Statistic.TRUTH_RMS] == 0
        # All bits of a negative index are those of a NaN: it is no non-finite output.
        outcome = session.judge(indices(0, -1))
        assert outcome.status is Status.OK
        assert outcome.statistics[Statistic.TRUTH_RMS] == math.inf
        assert set(outcome.counts.values()) == {0}
        assert session.outputs()["y"].tolist() == [0, -1]
        for null in NULLS:
            judged = session.judge(null.outputs(case.tensors, case.reference))
            assert judged.status is Status.OK, null.name
        hashes = {session.judge(indices(0, i)).output_hash for i in (0, 1, 2)}
        assert len(hashes) == 3
