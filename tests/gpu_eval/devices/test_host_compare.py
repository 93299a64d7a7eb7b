"""The comparator against numpy in fp64, against torch.allclose, and on the values that bite."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from gpu_eval.devices.base import Case, Outcome
from gpu_eval.devices.host_session import HostSession
from suiteopt.errors import UserError
from suiteopt.matrix.schema import COUNTS, Count, Statistic, Status

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
COUNTER = itertools.count()

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 3.4e38, -3.4e38]
values = st.sampled_from([np.float32(v) for v in SPECIAL]) | st.floats(
    width=32, allow_nan=True, allow_infinity=True
)
vectors = st.integers(0, 9).flatmap(
    lambda n: st.tuples(*(arrays.arrays(np.float32, n, elements=values) for _ in range(2)))
)


def judge(
    session: HostSession, output: Floats, reference: Floats, truth: Doubles | None = None
) -> Outcome:
    truth = reference.astype(np.float64) if truth is None else truth
    session.bind(
        Case(
            f"compare{next(COUNTER)}",
            {},
            {"out": torch.from_numpy(reference)},
            {"out": torch.from_numpy(truth)},
        )
    )
    return session.judge({"out": torch.from_numpy(output)})


def expected_statistics(
    output: Floats, reference: Floats, truth: Doubles
) -> dict[Statistic, float]:
    """Return every statistic by its definition, in fp64, one expression each."""
    out, ref = output.astype(np.float64), reference.astype(np.float64)

    def top(numbers: Doubles) -> float:
        return float(numbers.max()) if numbers.size else 0.0

    def over(d: Doubles | float, scale: Doubles | float) -> Doubles:
        d, scale = np.broadcast_arrays(np.asarray(d, np.float64), np.asarray(scale, np.float64))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(d == 0, 0.0, np.where(scale == 0, np.inf, d / scale))

    def rms(numbers: Doubles) -> float:
        return float(np.sqrt(np.mean(numbers**2))) if numbers.size else 0.0

    own = np.isfinite(out) & np.isfinite(ref)
    o, r = out[own], ref[own]
    d = np.abs(o - r)
    true = np.isfinite(out) & np.isfinite(truth)
    ot, t = out[true], truth[true]
    e = np.abs(ot - t)
    return {
        Statistic.ALLCLOSE_CANDIDATE: top(d / (1 + np.abs(o))),
        Statistic.ALLCLOSE_REFERENCE: top(d / (1 + np.abs(r))),
        Statistic.MAX_ABS: top(d),
        Statistic.MAX_REL: top(over(d, np.abs(r))),
        Statistic.EITHER_OR: top(np.minimum(d, over(d, np.abs(r)))),
        Statistic.GLOBAL: top(d) / (1 + top(np.abs(r))),
        Statistic.RMS: float(over(top(d), rms(r))),
        Statistic.TRUTH_ALLCLOSE: top(e / (1 + np.abs(t))),
        Statistic.TRUTH_RMS: float(over(top(e), rms(t))),
        Statistic.TRUTH_RMS_ERROR: float(over(rms(e), rms(t))),
    }


def expected_counts(output: Floats, reference: Floats) -> dict[Count, int]:
    nan_out, nan_ref = np.isnan(output), np.isnan(reference)
    unequal = (np.isinf(output) | np.isinf(reference)) & (output != reference)
    return {
        Count.NAN_BOTH: int((nan_out & nan_ref).sum()),
        Count.NAN_ONE: int((nan_out ^ nan_ref).sum()),
        Count.INF_MISMATCH: int((unequal & ~nan_out & ~nan_ref).sum()),
        Count.NONFINITE_OUTPUT: int((~np.isfinite(output)).sum()),
    }


def check(outcome: Outcome, output: Floats, reference: Floats, truth: Doubles) -> None:
    expected = expected_statistics(output, reference, truth)
    assert set(outcome.statistics) == set(expected)
    for name, value in expected.items():
        assert outcome.statistics[name] == pytest.approx(value, rel=1e-12), name
    assert outcome.counts == expected_counts(output, reference)
    bad = outcome.counts[Count.NAN_ONE] + outcome.counts[Count.INF_MISMATCH]
    assert outcome.status is (Status.NONFINITE if bad else Status.OK)


@settings(max_examples=300, deadline=None)
@given(vectors, st.data())
def test_statistics_are_numpys(
    session: HostSession, pair: tuple[Floats, Floats], data: st.DataObject
) -> None:
    output, reference = pair
    shift = data.draw(arrays.arrays(np.float64, len(reference), elements=st.floats(-1e-3, 1e-3)))
    truth = reference.astype(np.float64) * (1 + shift)
    check(judge(session, output, reference, truth), output, reference, truth)


def test_statistics_of_a_long_output(session: HostSession) -> None:
    generator = np.random.default_rng(5)
    reference = generator.standard_normal(100_003).astype(np.float32)
    output = (reference * (1 + 1e-5 * generator.standard_normal(len(reference)))).astype(np.float32)
    truth = reference.astype(np.float64) + 1e-8 * generator.standard_normal(len(reference))
    output[::1000] = np.nan
    reference[::1500] = np.inf
    check(judge(session, output, reference, truth), output, reference, truth)


@pytest.mark.parametrize("size", [0, 1])
def test_empty_and_single_outputs(session: HostSession, size: int) -> None:
    output = np.full(size, 2.0, np.float32)
    reference = np.full(size, 1.0, np.float32)
    outcome = judge(session, output, reference)
    check(outcome, output, reference, reference.astype(np.float64))
    if size == 0:
        assert set(outcome.statistics.values()) == {0.0}
        assert set(outcome.counts.values()) == {0}
    else:
        assert outcome.statistics[Statistic.ALLCLOSE_CANDIDATE] == pytest.approx(1 / 3)
        assert outcome.statistics[Statistic.ALLCLOSE_REFERENCE] == 0.5


def test_zero_scale(session: HostSession) -> None:
    zeros = np.zeros(4, np.float32)
    same = judge(session, np.array([0.0, -0.0, 0.0, 0.0], np.float32), zeros)
    assert set(same.statistics.values()) == {0.0}
    one_off = judge(session, np.array([0.0, 1e-45, 0.0, 0.0], np.float32), zeros)
    denormal = float(np.float32(1e-45))
    assert one_off.statistics[Statistic.MAX_ABS] == denormal
    assert one_off.statistics[Statistic.EITHER_OR] == denormal
    for name in (Statistic.MAX_REL, Statistic.RMS, Statistic.TRUTH_RMS, Statistic.TRUTH_RMS_ERROR):
        assert one_off.statistics[name] == np.inf


def test_equal_infinities_are_no_difference(session: HostSession) -> None:
    both = np.array([np.inf, -np.inf, 1.0], np.float32)
    outcome = judge(session, both, both)
    assert outcome.status is Status.OK
    assert set(outcome.statistics.values()) == {0.0}
    assert outcome.counts[Count.NONFINITE_OUTPUT] == 2
    opposite = judge(session, -both, both)
    assert opposite.counts[Count.INF_MISMATCH] == 2
    assert opposite.statistics[Statistic.MAX_ABS] == 2.0


def test_truths_at_the_end_of_fp32_do_not_overflow(session: HostSession) -> None:
    # A truth beyond it makes the input invalid, which is for the campaign to see.
    truth = np.full(3, 3.4e38)
    output = np.full(3, 1.7e38, np.float32)
    outcome = judge(session, output, output, truth)
    assert outcome.statistics[Statistic.TRUTH_RMS] == pytest.approx(0.5)
    assert outcome.statistics[Statistic.TRUTH_RMS_ERROR] == pytest.approx(0.5)
    assert outcome.statistics[Statistic.MAX_ABS] == 0.0


TOLERANCES = [10.0**-k for k in range(9)] + [0.03, 0.003, 3e-4]


@settings(max_examples=150, deadline=None)
@given(vectors)
def test_critical_tolerances_are_torch_allclose(
    session: HostSession, pair: tuple[Floats, Floats]
) -> None:
    check_against_torch(session, *pair)


@pytest.mark.parametrize("seed", range(4))
def test_critical_tolerances_of_plausible_outputs(session: HostSession, seed: int) -> None:
    generator = np.random.default_rng(seed)
    for scale in 10.0 ** np.arange(-8, 2):
        reference = (generator.standard_normal(50) * 10.0 ** generator.integers(-4, 4)).astype(
            np.float32
        )
        noise = 1 + scale * generator.standard_normal(50)
        check_against_torch(session, (reference * noise).astype(np.float32), reference)


def check_against_torch(session: HostSession, output: Floats, reference: Floats) -> None:
    outcome = judge(session, output, reference)
    counts = outcome.counts
    finite = counts[Count.NAN_ONE] + counts[Count.INF_MISMATCH] + counts[Count.NAN_BOTH] == 0
    out, ref = torch.from_numpy(output), torch.from_numpy(reference)
    orders = (
        (Statistic.ALLCLOSE_CANDIDATE, ref, out),
        (Statistic.ALLCLOSE_REFERENCE, out, ref),
    )
    for statistic, first, second in orders:
        critical = outcome.statistics[statistic]
        for t in TOLERANCES:
            if abs(critical - t) <= 2e-7 * t:
                continue  # fp32 allclose is not exact there
            said = torch.allclose(first, second, rtol=t, atol=t)
            if np.abs(np.concatenate([output, reference])).max(initial=0) > 1e38 and finite:
                continue  # |a - b| overflows fp32 inside torch
            assert said == (finite and critical <= t), (statistic, t, critical)


def test_hash_is_of_bits_and_places(session: HostSession) -> None:
    reference = np.zeros(5, np.float32)
    variants = [
        [0, 0, 0, 0, 0],
        [-0.0, 0, 0, 0, 0],
        [0, 0, 0, 0, -0.0],
        [1, 2, 0, 0, 0],
        [2, 1, 0, 0, 0],
        [0, 0, 1, 2, 0],
    ]
    hashes = [judge(session, np.array(v, np.float32), reference).output_hash for v in variants]
    assert len(set(hashes)) == len(variants)
    assert hashes[3] == judge(session, np.array(variants[3], np.float32), reference).output_hash


def test_several_outputs_take_the_worst_of_each(session: HostSession) -> None:
    references = {"a": torch.tensor([1.0, 100.0]), "b": torch.tensor([[0.5]])}
    session.bind(Case("two", {}, references, {n: r.double() for n, r in references.items()}))
    outcome = session.judge({"a": torch.tensor([1.0, 101.0]), "b": torch.tensor([[0.75]])})
    assert outcome.statistics[Statistic.MAX_ABS] == 1.0
    assert outcome.statistics[Statistic.MAX_REL] == 0.5
    assert outcome.statistics[Statistic.RMS] == 0.5
    assert list(outcome.counts) == list(COUNTS)
    given_back = session.outputs()
    assert torch.equal(given_back["b"], torch.tensor([[0.75]]))
    with pytest.raises(UserError, match="lack 'b'"):
        session.judge({"a": torch.zeros(2)})
    with pytest.raises(UserError, match=r"float32 of shape \(3,\), but the reference is float32"):
        session.judge({"a": torch.zeros(3), "b": torch.zeros(1, 1)})
