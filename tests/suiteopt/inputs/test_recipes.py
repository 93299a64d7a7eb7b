"""What each recipe is for: its values have the structure that it promises."""

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.inputs import recipes
from suiteopt.inputs.recipes import RECIPES, build, generate, integer_bound, tensor_seed

ROWS, COLUMNS = 200, 500


def made(name: str, seed: int = 11, **arguments: Any) -> torch.Tensor:
    """A wide matrix of a recipe, in fp64 for statistics."""
    return generate(name, (ROWS, COLUMNS), seed, arguments).double()


def test_uniform_is_the_distribution_of_torch_rand() -> None:
    x = made("uniform")
    assert x.min() >= 0
    assert x.max() < 1
    assert torch.equal(x * 2**24, (x * 2**24).round())
    assert x.mean() == pytest.approx(0.5, abs=0.005)
    assert x.var() == pytest.approx(1 / 12, rel=0.02)
    counts = torch.histc(x, 16, 0, 1)
    expected = x.numel() / 16
    assert ((counts - expected) ** 2 / expected).sum() < 40  # chi-square, 15 degrees: p = 5e-4


def test_signed_uniform_fills_its_interval() -> None:
    x = made("signed-uniform", exponent=3)
    assert -8 <= x.min() < -7.99
    assert 7.99 < x.max() < 8
    assert x.mean() == pytest.approx(0, abs=0.06)


def test_normal_has_normal_quantiles() -> None:
    x = made("normal").flatten()
    assert x.mean() == pytest.approx(0, abs=0.012)
    assert x.std() == pytest.approx(1, rel=0.01)
    for share, quantile in ((0.0228, -2.0), (0.1587, -1.0), (0.5, 0.0), (0.8413, 1.0)):
        assert x.quantile(share) == pytest.approx(quantile, abs=0.03)
    assert 3.5 < x.abs().max() < 6
    assert torch.equal(made("normal", exponent=5), made("normal") * 32)


def test_heavy_tail_halves_with_every_octave() -> None:
    x = made("heavy-tail").abs()
    for k in range(8):
        assert (x >= 2**k).double().mean() == pytest.approx(0.5 ** (k + 1), rel=0.25, abs=1e-4)
    assert 256 < x.max() < 1024
    assert made("heavy-tail", levels=2).abs().max() < 4
    assert made("heavy-tail").sign().mean() == pytest.approx(0, abs=0.02)


def test_octaves_are_equally_full() -> None:
    x = made("octaves", low=-3, high=4)
    octave = x.abs().log2().floor()
    shares = [(octave == e).double().mean().item() for e in range(-3, 5)]
    assert shares == pytest.approx([1 / 8] * 8, rel=0.05)
    assert x.sign().mean() == pytest.approx(0, abs=0.02)


def test_half_precision_cannot_hold_the_extremes() -> None:
    beyond = generate("beyond-half", (ROWS, COLUMNS), 1)
    assert torch.isfinite(beyond).all()
    assert torch.isinf(beyond.half()).all()
    below = generate("below-half", (ROWS, COLUMNS), 1)
    assert (below != 0).all()
    assert (below.half() == 0).all()


@pytest.mark.parametrize("width", [1, 3, 64])
def test_lattice_takes_every_integer_of_its_range_equally(width: int) -> None:
    x = made("lattice", width=width)
    values, counts = x.unique(return_counts=True)
    assert values.tolist() == list(range(-width, width + 1))
    assert counts.double() == pytest.approx(x.numel() / (2 * width + 1), rel=0.2)
    assert x.mean() == pytest.approx(0, abs=0.02 * width)


def test_lattice_sums_are_exact_in_any_order() -> None:
    a, b = generate("lattice", (64, 64), 1), generate("lattice", (64, 64), 2)
    truth = a.double() @ b.double()
    assert torch.equal((a @ b).double(), truth)
    assert torch.equal((a.flip(1) @ b.flip(0)).double(), truth)


def test_residue_tells_neighbours_apart() -> None:
    x = made("residue", modulus=31).flatten()
    assert set(x.unique().tolist()) == set(range(-15, 16))
    for distance in range(1, 31):
        assert (x[distance:] != x[:-distance]).all()
    assert torch.equal(x[31:], x[:-31])


def test_powers_are_powers_of_two() -> None:
    x = made("powers")
    mantissa, _ = torch.frexp(x.abs())
    assert (mantissa == 0.5).all()
    assert sorted(x.abs().unique().tolist()) == [2.0**e for e in range(-3, 4)]
    assert (x < 0).double().mean() == pytest.approx(0.5, abs=0.01)


def test_constant_is_one_value() -> None:
    assert made("constant", numerator=-3, exponent=-2).unique().tolist() == [-0.75]


def test_alternating_signs_change_along_rows_and_columns() -> None:
    x = made("alternating")
    assert (x[:, 1:] * x[:, :-1] < 0).all()
    assert (x[1:] * x[:-1] < 0).all()
    assert ((x.abs() >= 1) & (x.abs() < 2)).all()


@pytest.mark.parametrize("length", [10, 11])
@pytest.mark.parametrize("mirror", [False, True])
def test_pairs_nearly_cancel(length: int, mirror: bool) -> None:
    x = generate("pairs", (50, length), 3, {"mirror": mirror}).double()
    partner = x.flip(1) if mirror else x[:, : length // 2 * 2].unflatten(1, (-1, 2)).flip(2)
    own = x if mirror else x[:, : length // 2 * 2].unflatten(1, (-1, 2))
    paired = own.abs() >= 0.5
    assert paired.sum() == 50 * (length // 2 * 2)
    assert ((own + partner)[paired].abs() < 2**-18).all()
    assert ((own + partner)[paired] != 0).double().mean() > 0.9
    assert (x.sum(1).abs() < length * 2.0**-19).all()
    assert (x.abs().sum(1) > length // 2).all()


def test_offset_is_large_with_a_small_spread() -> None:
    x = made("offset", offset=-300, spread=2)
    assert x.mean() == pytest.approx(-300, abs=0.05)
    assert -304 <= x.min() < -303.9
    assert -296.1 < x.max() <= -296


def test_rows_have_a_level_each() -> None:
    x = made("rows", levels=8, spread=-8)
    level = x.mean(1).round()
    assert ((x - level[:, None]).abs() <= 2**-8).all()
    assert set(level.tolist()) == set(range(-8, 9))


def test_ramp_orders_all_elements() -> None:
    x = made("ramp", span=2).flatten()
    assert (x[1:] > x[:-1]).all()
    assert x[0] == -x[-1]
    assert 2 < x[-1] < 4


@pytest.mark.parametrize(("place", "column"), [("first", 0), ("last", COLUMNS - 1)])
def test_impulses_stand_at_the_ends_of_rows(place: str, column: int) -> None:
    x = made("impulse", place=place)
    assert (x[:, column] >= 1).all()
    assert (x[:, column] < 2).all()
    assert (x != 0).sum() == ROWS


def test_random_impulses_stand_anywhere_once_a_row() -> None:
    x = made("impulse", place="random")
    assert ((x != 0).sum(1) == 1).all()
    columns = x.argmax(1).double()
    assert columns.mean() == pytest.approx(COLUMNS / 2, rel=0.15)
    assert len(columns.unique()) > 130


def test_a_row_may_span_several_dimensions() -> None:
    x = generate("impulse", (4, 3, 5, 7), 1, {"axes": 3})
    assert (x[:, 2, 4, 6] >= 1).all()
    assert (x != 0).sum() == 4


def test_tile_edges_stand_alone() -> None:
    x = made("tile-edges", tile=32)
    edges = sorted({c for c in range(COLUMNS) if c % 32 in (0, 31)} | {COLUMNS - 1})
    others = [c for c in range(COLUMNS) if c not in edges]
    assert (x[:, others] == 0).all()
    assert (x[:, edges] != 0).double().mean() > 0.999


def test_sparse_is_mostly_zero() -> None:
    x = made("sparse", one_in=16)
    assert (x != 0).double().mean() == pytest.approx(1 / 16, rel=0.05)
    assert x[x != 0].std() == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize("name", ["sparse", "impulse", "tile-edges"])
def test_noise_stands_in_for_zeros_and_leaves_the_rest(name: str) -> None:
    bare, noisy = made(name), made(name, noise=True)
    assert torch.equal(noisy[bare != 0], bare[bare != 0])
    background = noisy[bare == 0]
    assert background.abs().max() <= 0.25
    assert background.std() == pytest.approx(0.5 / 12**0.5, rel=0.02)


def test_few_values_tie() -> None:
    values, counts = made("few", count=5).unique(return_counts=True)
    assert len(values) == 5
    assert counts.double() == pytest.approx(ROWS * COLUMNS / 5, rel=0.05)
    assert values.floor().diff().tolist() == pytest.approx([1] * 4, abs=1)


@pytest.mark.parametrize("descending", [False, True])
def test_sorted_rows_are_monotone(descending: bool) -> None:
    x = made("sorted", descending=descending)
    step = x.diff(dim=1)
    assert ((step <= 0) if descending else (step >= 0)).all()
    assert (step != 0).double().mean() > 0.99
    assert -1 <= x.min() < -0.9
    assert 0.9 < x.max() < 1
    assert (x[0] != x[1]).double().mean() > 0.99


def test_hot_logits_stand_out() -> None:
    x = made("hot", heat=32, count=3)
    hot = (x > 16).sum(1)
    assert ((hot >= 1) & (hot <= 3)).all()
    assert hot.double().mean() > 2.9
    assert (made("hot", heat=32, place="last").argmax(1) == COLUMNS - 1).all()


def test_zeros_and_denormals_of_both_signs() -> None:
    x = generate("zeros-denormals", (ROWS, COLUMNS), 1)
    bits = x.view(torch.int32)
    assert (bits == 0).double().mean() == pytest.approx(1 / 8, rel=0.1)
    assert (bits == -(2**31)).double().mean() == pytest.approx(1 / 8, rel=0.1)
    tiny = torch.finfo(torch.float32).tiny
    denormal = (x != 0) & (x.abs() < tiny)
    assert denormal.double().mean() == pytest.approx(5 / 8, rel=0.05)
    assert (x[denormal] < 0).double().mean() == pytest.approx(0.5, abs=0.02)
    assert (x.abs() <= tiny).all()


def test_nonfinite_values_are_sprinkled() -> None:
    mixed = generate("nonfinite", (ROWS, COLUMNS), 1, {"one_in": 10})
    assert torch.isnan(mixed).double().mean() == pytest.approx(1 / 30, rel=0.1)
    assert (mixed == float("inf")).double().mean() == pytest.approx(1 / 30, rel=0.1)
    assert (mixed == float("-inf")).double().mean() == pytest.approx(1 / 30, rel=0.1)
    assert not torch.isnan(generate("nonfinite", (ROWS, COLUMNS), 1, {"special": "inf"})).any()
    assert not torch.isinf(generate("nonfinite", (ROWS, COLUMNS), 1, {"special": "nan"})).any()


def test_away_keeps_off_zero() -> None:
    x = made("away", sixteenths=20, exponent=1)
    assert x.abs().min() >= 2.5
    assert x.abs().max() <= 4.5
    assert (x < 0).double().mean() == pytest.approx(0.5, abs=0.01)


def test_blend_scales_thins_and_shifts_its_base() -> None:
    assert torch.equal(made("blend", base="normal", exponent=3), made("normal") * 8)
    thin = made("blend", base="away", one_in=5)
    assert (thin != 0).double().mean() == pytest.approx(1 / 5, rel=0.05)
    shifted = made("blend", base="signed-uniform", offset=50, levels=3)
    assert set((shifted.mean(1) - 50).round().tolist()) == set(range(-3, 4))
    with pytest.raises(ValueError, match="finite values"):
        made("blend", base="nonfinite")
    with pytest.raises(ValueError, match="finite values"):
        made("blend", base="blend")


def test_ends_are_lifted_in_every_row() -> None:
    x = made("ends", base="lattice", exponent=1, lift=5, count=3)
    plain = made("lattice") * 2
    assert torch.equal(x[:, 3:-3], plain[:, 3:-3])
    assert torch.equal(x[:, :3], plain[:, :3] * 32)
    assert torch.equal(x[:, -3:], plain[:, -3:] * 32)
    images = generate("ends", (2, 5, 6), 3, {"base": "normal", "count": 2, "axes": 2})
    lifted = images != generate("normal", (2, 5, 6), 3)
    assert torch.equal(
        lifted.flatten(1).nonzero()[:, 1].reshape(2, 4)[0], torch.tensor([0, 1, 28, 29])
    )
    for base in ("nonfinite", "blend", "ends"):
        with pytest.raises(ValueError, match="finite values"):
            made("ends", base=base)


def test_no_lane_stands_for_another() -> None:
    x = generate("lanes", (8, 1 << 14), 5).double()
    assert set(x[:, 1:-1].unique().tolist()) == {-4, -2, -1, 0, 1, 2, 4}
    assert (x[:, 0] == 4).all()
    assert (x[:, -1] == 4).all()
    squares = x.square().reshape(8, -1, 128).sum(dim=1)
    # By lane as far apart as the amplitudes, by warp still further than chance would take them.
    assert squares.amax(dim=1).div(squares.amin(dim=1)).min() > 10
    warps = squares.reshape(8, 4, 32).sum(dim=2)
    assert (warps.amax(dim=1) / warps.amin(dim=1)).min() > 1.1


@given(
    length=st.integers(2, 3000),
    low=st.integers(-12, 0),
    high=st.integers(0, 8),
    seed=st.integers(0, 2**60),
)
@settings(max_examples=25, deadline=None)
def test_sums_of_lanes_are_exact_at_both_scales(
    length: int, low: int, high: int, seed: int
) -> None:
    x = generate("lanes", (4, length), seed, {"low": low, "high": high})
    scale = torch.tensor([2.0**low, 2.0**high] * 2)[:, None]
    assert torch.equal(x / scale, (x / scale).round())
    for terms in (x, x * x):
        truth = terms.double().sum(dim=1)
        assert torch.equal(terms.cumsum(dim=1)[:, -1].double(), truth)
        assert torch.equal(terms.flip(1).cumsum(dim=1)[:, -1].double(), truth)


def test_sunken_rows_lie_below_zero_and_some_end_hot() -> None:
    x = generate("sunken", (256, 300), 4)
    assert x.max() < -75
    body = x[:, :-1]
    assert (body.amax(dim=1) - body.amin(dim=1) == 6).all()
    assert len(body.amax(dim=1).unique()) > 60
    hot = x[:, -1] - body.amax(dim=1) > 200
    assert hot.nonzero().flatten().tolist() == [63, 127, 191, 255]
    # Softmax about a maximum of zero vanishes, about one that leaves the last element out it
    # overflows.
    assert (torch.exp(x[:63]) == 0).all()
    assert torch.isinf(torch.exp(x[63, -1] - body[63].max()))


def test_seeds_and_places_are_independent() -> None:
    names = ("uniform", "normal", "lattice")
    for name in names:
        a, b = made(name, seed=1).flatten(), made(name, seed=2).flatten()
        assert torch.corrcoef(torch.stack([a, b]))[0, 1].abs() < 0.02
        for lag in (1, 2, COLUMNS):
            assert torch.corrcoef(torch.stack([a[lag:], a[:-lag]]))[0, 1].abs() < 0.02
    assert not torch.equal(made("normal", seed=3), made("normal", seed=3 + 2**33))


def test_every_bit_of_the_index_moves_every_bit_of_the_hash() -> None:
    at = torch.arange(4096, dtype=torch.int64)
    base = recipes._hash(at, 7, 0)
    for bit in range(12, 62, 7):
        flipped = recipes._hash(at + (1 << bit), 7, 0)
        changed = torch.stack([((base ^ flipped) >> out) & 1 for out in range(32)])
        assert changed.double().mean(1).sub(0.5).abs().max() < 0.05
    assert int(base.min()) >= 0
    assert int(base.max()) < 2**32


def test_integers_of_python_and_torch_hash_alike() -> None:
    at = [0, 1, 2**31, 2**32 + 5, 2**62 + 12345]
    hashed = recipes._hash(torch.tensor(at), 2**63 + 9, 3)
    assert hashed.tolist() == [recipes._hash(i, 2**63 + 9, 3) for i in at]


@given(st.sampled_from(sorted(RECIPES)), st.lists(st.integers(0, 6), max_size=4), st.integers())
@settings(max_examples=150, deadline=None)
def test_any_shape_and_seed_will_do(name: str, shape: list[int], seed: int) -> None:
    x = generate(name, shape, seed)
    assert list(x.shape) == shape
    assert x.dtype == torch.float32
    assert x.is_contiguous()
    if not RECIPES[name].nonfinite:
        assert torch.isfinite(x).all()
    bound = integer_bound(name, {})
    if bound is not None:
        assert torch.equal(x, x.round())
        assert x.numel() == 0 or x.abs().max() <= bound


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_other_dtypes_are_rounded_once(name: str) -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        x = generate(name, (9, 40), 4, dtype=dtype, device=torch.device("cpu"))
        assert x.dtype == dtype
        assert torch.equal(x.nan_to_num(7), generate(name, (9, 40), 4).to(dtype).nan_to_num(7))


def test_the_global_generator_is_left_alone() -> None:
    state = torch.get_rng_state()
    for name in RECIPES:
        generate(name, (4, 4), 1)
    assert torch.equal(state, torch.get_rng_state())


def test_the_registry_describes_its_recipes() -> None:
    for name, recipe in RECIPES.items():
        assert recipe.name == name
        assert recipe.version >= 1
        assert recipe.doc.endswith(".")
        assert "axes" not in recipe.arguments or recipe.arguments["axes"] == 1
    assert {n for n, r in RECIPES.items() if r.nonfinite} == {"nonfinite"}
    assert {n for n, r in RECIPES.items() if r.exact} == {
        "lattice",
        "residue",
        "powers",
        "constant",
        "lanes",
    }
    assert RECIPES["hot"].arguments == {"heat": 32, "count": 1, "place": "random", "axes": 1}


def test_bounds_of_integer_recipes() -> None:
    assert integer_bound("lattice", {"width": 9}) == 9
    assert integer_bound("residue", {}) == 63
    assert integer_bound("powers", {"low": 1, "high": 2}) == 4
    assert integer_bound("powers", {}) is None
    assert integer_bound("constant", {"numerator": -3, "exponent": 2}) == 12
    assert integer_bound("constant", {"exponent": -1}) is None
    assert integer_bound("lanes", {}) == 4
    assert integer_bound("lanes", {"high": 3}) == 32
    assert integer_bound("lanes", {"low": -1, "high": 3}) is None
    assert integer_bound("normal", {}) is None


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown recipe 'lattise'; known: "):
        generate("lattise", (2,), 1)
    with pytest.raises(ValueError, match="'lattice' has no argument 'size'; it has: width"):
        generate("lattice", (2,), 1, {"size": 3})
    with pytest.raises(ValueError, match="place is 'middle'"):
        generate("impulse", (2, 2), 1, {"place": "middle"})
    with pytest.raises(ValueError, match="not -5"):
        generate("lattice", (2,), 1, {"width": -3})


def test_a_member_tensor_has_a_seed_of_its_own() -> None:
    assert tensor_seed(42, "x") == 7066965575048845281
    assert tensor_seed(42, "x") != tensor_seed(42, "y")
    recipe = {"name": "normal", "version": 1, "arguments": {"exponent": 1}}
    expected = generate("normal", (3, 4), tensor_seed(42, "x"), {"exponent": 1})
    assert torch.equal(build(recipe, (3, 4), 42, "x"), expected)
    with pytest.raises(ValueError, match="wanted in version 2; this file has 1"):
        build({**recipe, "version": 2}, (3, 4), 42, "x")


def test_the_file_stands_alone() -> None:
    """Executed as a benchmark does it: without a module, a name or a path."""
    source = Path(recipes.__file__).read_text("utf-8")
    assert "SPDX-License-Identifier: MIT" in source.splitlines()[0]
    namespace: dict[str, Any] = {}
    exec(compile(source, "<exported>", "exec"), namespace)
    for name in RECIPES:
        ours = generate(name, (5, 9), 8).view(torch.int32)
        assert torch.equal(namespace["generate"](name, (5, 9), 8).view(torch.int32), ours)
    imported = [line for line in source.splitlines() if line.startswith(("import", "from"))]
    assert imported == [
        "import hashlib",
        "from collections.abc import Callable, Mapping, Sequence",
        "from inspect import signature",
        "from types import MappingProxyType",
        "from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar",
    ]
