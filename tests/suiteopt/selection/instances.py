"""Small instances, drawn and solved from the definition."""

from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import strategies as st

from suiteopt.selection.instance import Instance, make_instance
from suiteopt.selection.objective import Score, score


def instance_of(kills: Any, **options: Any) -> Instance:
    """Instance with rows m0, m1, ... and columns i0, i1, ..."""
    table = np.asarray(kills, dtype=bool)
    return make_instance(
        "level1/001",
        [f"m{row}" for row in range(table.shape[0])],
        [f"i{column}" for column in range(table.shape[1])],
        table,
        **options,
    )


@st.composite
def instances(draw: Any, rows: int = 8, columns: int = 7, plain: bool = False) -> Instance:
    """Instances with weights, slack, costs and given kills; few values, so that ties abound."""
    m, n = draw(st.integers(1, rows)), draw(st.integers(1, columns))

    def grid(values: Any, *shape: int) -> np.ndarray:
        size = int(np.prod(shape))
        return np.array(draw(st.lists(values, min_size=size, max_size=size))).reshape(shape)

    kills = grid(st.booleans(), m, n)
    if plain:
        return instance_of(kills)
    return instance_of(
        kills,
        weights=grid(st.integers(1, 3), m),
        slack_decades=grid(st.sampled_from([0.0, 1.0, 2.5]), m, n),
        costs=grid(st.integers(0, 2), n),
        given=grid(st.sampled_from([0, 0, 0, 1, 2]), m),
        given_slack_decades=grid(st.sampled_from([0.0, 1.0]), m),
    )


def brute_force(instance: Instance, budget: int) -> tuple[tuple[int, ...], Score, int]:
    """Best set, its score, and the number of largest sets with as much detection."""
    columns = range(len(instance.inputs))
    size = min(budget, len(instance.inputs))
    sets = [s for count in range(size + 1) for s in combinations(columns, count)]
    values = {s: score(instance, s) for s in sets}
    top = max(values.values())
    best = min(s for s in sets if values[s] == top)
    optima = sum(values[s].detected == top.detected for s in sets if len(s) == size)
    return best, top, optima
