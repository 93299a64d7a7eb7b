"""The figures of the method page are those of the records in the checkout."""

import json
from pathlib import Path

import numpy as np

from suiteopt.matrix.denominator import is_witnessed, shows_in_output
from suiteopt.matrix.store import Matrix, resolve_matrix

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "method.md").read_text("utf-8")
RESULTS = ROOT / "experiments" / "results"


def test_what_the_held_out_objective_is_worth() -> None:
    found = json.loads((RESULTS / "validation.json").read_text("utf-8"))
    duels = found["calibrated"]["objectives"]
    site = duels["site"]
    low, high = (f"{100 * bound:+.1f}" for bound in site["interval"])
    shares = [site["held_out_objective_share"], site["plain_share"]]
    one, two = (f"{100 * share:.1f}%" for share in shares)
    assert f"by site {one} instead of {two} of the faults that it has not seen" in PAGE
    assert f"({100 * site['difference_share']:+.1f} points, interval {low} to {high})" in PAGE
    gains = {name: f"{100 * duel['difference_share']:+.1f}" for name, duel in duels.items()}
    assert (
        f"in random folds {gains['random']}, by rule {gains['rule']}, "
        f"by family {gains['family']}, by substrate {gains['substrate']};"
    ) in PAGE
    assert {duel["verdict"] for duel in duels.values()} == {"better"}


def test_what_does_not_show_in_an_output() -> None:
    matrix = Matrix.open(resolve_matrix(None))
    rows = matrix.implementations
    witnessed = is_witnessed(rows, matrix.meta).to_numpy(dtype=np.bool_)
    hidden = rows[witnessed & ~shows_in_output(rows)]
    how = hidden["witness_how"].astype(str).value_counts()
    assert f"Of the {len(hidden):,} on the default matrix {how['unwritten']:,} leave" in PAGE
    assert f"{how['out_of_bounds']} write beside the output" in PAGE
    assert f"{how['race']} are races" in PAGE
    share = len(hidden) / int(witnessed.sum())
    assert "a seventh of them on the default matrix" in PAGE
    assert 1 / 7.5 < share < 1 / 6.5
