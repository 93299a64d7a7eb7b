from itertools import pairwise as pairs

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gpu_eval.problems.orders import (
    ORDERS,
    backward,
    chunked,
    interleaved,
    ordered_controls,
    pairwise,
    serial,
    terms_of_rows,
)

FLOATS = st.lists(st.floats(-1e6, 1e6, width=32, allow_subnormal=False), min_size=1, max_size=70)


def values(numbers: list[float]) -> tuple[np.ndarray, list[torch.Tensor]]:
    array = np.array(numbers, dtype=np.float32)
    return array, list(torch.from_numpy(array.copy()).unbind(0))


def running(array: np.ndarray) -> np.float32:
    return np.add.accumulate(array, dtype=np.float32)[-1]


@given(FLOATS)
def test_serial_and_backward_round_after_every_addition(numbers: list[float]) -> None:
    array, terms = values(numbers)
    assert serial(terms.__getitem__, len(terms)).numpy() == running(array)
    assert backward(terms.__getitem__, len(terms)).numpy() == running(array[::-1])


@given(FLOATS)
def test_pairwise_adds_neighbours_level_by_level(numbers: list[float]) -> None:
    array, terms = values(numbers)
    level = list(array)
    rest: list[np.float32] = []
    while len(level) > 1:
        if len(level) % 2:
            rest.append(level.pop())
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=True)]
    # What did not fill a level is added from the shortest run to the longest.
    total = level[0]
    if rest:
        total = rest[0]
        for part in [*rest[1:], level[0]]:
            total = np.float32(part + total)
    assert pairwise(terms.__getitem__, len(terms)).numpy() == total


@given(FLOATS, st.sampled_from([2, 4, 8]))
def test_chunked_adds_contiguous_parts(numbers: list[float], chunks: int) -> None:
    array, terms = values(numbers)
    edges = [len(array) * i // chunks for i in range(chunks + 1)]
    parts = [running(array[a:b]) for a, b in pairs(edges) if b > a]
    expected = running(np.array(parts, dtype=np.float32))
    assert chunked(chunks)(terms.__getitem__, len(terms)).numpy() == expected


def test_interleaved_takes_turns() -> None:
    array, terms = values([0.1 * k for k in range(11)])
    lanes = [running(array[lane::4]) for lane in range(4)]
    expected = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
    assert interleaved(4)(terms.__getitem__, len(terms)).numpy() == expected


def test_serial_loses_what_a_wider_sum_keeps() -> None:
    # 2^24 + 1 is no fp32 number: a serial fp32 sum stays where it is, a wider one does not.
    rows = torch.ones(1, 9)
    rows[0, 0] = 2.0**24
    assert serial(terms_of_rows(rows), 9).item() == 2.0**24
    assert backward(terms_of_rows(rows), 9).item() == 2.0**24 + 8


@pytest.mark.parametrize(("name", "kind", "order"), ORDERS)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=40))
def test_all_orders_agree_on_integers(name, kind, order, numbers: list[int]) -> None:
    rows = torch.tensor([numbers, numbers[::-1]], dtype=torch.float32)
    before = rows.clone()
    assert order(terms_of_rows(rows), len(numbers)).tolist() == [sum(numbers)] * 2
    assert torch.equal(rows, before), "an order must not write into its terms"


def test_ordered_controls_are_named_and_bound_to_their_order() -> None:
    controls = ordered_controls(
        lambda tensors, order: {"y": order(terms_of_rows(tensors["x"]), 9)}, prefix="sum-"
    )
    assert [c.name for c in controls][:2] == ["sum-serial", "sum-reversed"]
    assert len(controls) >= 6
    assert len({c.kind for c in controls}) >= 3
    rows = torch.ones(1, 9)
    rows[0, 0] = 2.0**24
    results = {c.kind: c.run({"x": rows})["y"].item() for c in controls if c.run is not None}
    assert results["serial"] == 2.0**24
    assert results["reversed"] == 2.0**24 + 8
