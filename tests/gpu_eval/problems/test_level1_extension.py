"""Problems 4, 26, 36, 47, 51, 89, 94 and 95: contracts, own draws, references, torch controls."""

import math
from dataclasses import replace

import pytest
import torch

from gpu_eval.campaign.own_draw import TRIAL_SEEDS, own_draw
from gpu_eval.campaign.shapes import PROFILES, plan_shape
from gpu_eval.problems.loader import INCLUDE, Corpus, all_substrates, sources
from gpu_eval.problems.nulls import NULLS
from gpu_eval.problems.tensors import (
    all_specs,
    contract,
    dimensions,
    floors,
    reduction_length,
    shape_of,
    smallest_sizes,
)
from gpu_eval.problems.validate import validate
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Statistic
from tests.gpu_eval.problems.level1_extension import (
    FLOAT_IDS,
    IDS,
    draw,
    gelu_in_double,
    shapes_of,
    widened,
)
from tests.gpu_eval.problems.test_corpus import compile_log, error, nvrtc


def test_contracts_are_the_benchmarks(corpus: Corpus) -> None:
    expected = {
        "level1/004": ({"a": (2048, 1048576), "b": (1048576, 1), "c": (2048, 1)}, 1048576),
        "level1/026": ({"x": (4096, 393216), "y": (4096, 393216)}, 1),
        "level1/036": ({"x": (112, 64, 512, 512), "y": (112, 64, 512, 512)}, 64),
        "level1/047": ({"x": (128, 4096, 4095), "y": (128, 1, 4095)}, 4096),
        "level1/051": ({"x": (128, 4096, 4095), "y": (128, 4095)}, 4096),
        "level1/089": ({"x": (32768, 32768), "y": (32768, 32768)}, 32768),
        "level1/094": (
            {"predictions": (32768, 32768), "targets": (32768, 32768), "loss": ()},
            32768 * 32768,
        ),
        "level1/095": (
            {"predictions": (32768, 4096), "targets": (32768,), "loss": ()},
            32768 + 4096,
        ),
    }
    found = {}
    for problem in map(corpus.problem, IDS):
        values = contract(problem)
        shapes = {spec.name: shape_of(spec, values) for spec in all_specs(problem)}
        found[problem.id] = (shapes, reduction_length(problem, values))
    assert found == expected
    dtypes = {s.name: s.dtype for s in corpus.problem("level1/095").inputs}
    assert dtypes == {"predictions": "float32", "targets": "int64"}
    assert [s.dtype for s in corpus.problem("level1/051").outputs] == ["int64"]


@pytest.mark.parametrize("identifier", IDS)
def test_definitions_are_valid_and_have_two_substrates(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    validate(problem)
    assert len(problem.substrates) == 2


def test_integer_outputs_that_do_not_fit_are_refused(corpus: Corpus) -> None:
    argmax = corpus.problem("level1/051")
    (y,) = argmax.outputs
    with pytest.raises(UserError, match=r"problem.py:\d+: .* gives 'y' as int64; declared: int32"):
        validate(replace(argmax, outputs=(replace(y, dtype="int32"),)))
    with pytest.raises(UserError, match=r"'value_of' gives the outputs \{'z': "):
        validate(replace(argmax, value_of=lambda tensors, outputs: {"z": outputs["y"].double()}))
    with pytest.raises(UserError, match=r"'value_of' gives 'y' as torch.float32"):
        validate(replace(argmax, value_of=lambda tensors, outputs: {"y": outputs["y"].float()}))


def test_references_are_the_benchmarks_formulas(corpus: Corpus) -> None:
    torch.manual_seed(0)
    x, ids = torch.randn(6, 7, 5), torch.randint(0, 7, (6,))
    image = torch.randn(2, 7, 3, 4)
    rms = torch.sqrt(torch.mean(image**2, dim=1, keepdim=True) + 1e-5)
    rows = x[:, :, 0]
    given = [
        ("level1/004", {"a": x[0], "b": x[1, :5, :1]}, x[0] @ x[1, :5, :1]),
        ("level1/026", {"x": rows}, torch.nn.GELU()(rows)),
        ("level1/036", {"x": image}, image / rms),
        ("level1/047", {"x": x}, x.sum(dim=1, keepdim=True)),
        ("level1/051", {"x": x}, x.argmax(dim=1)),
        ("level1/089", {"x": rows}, rows.cumsum(dim=1)),
        (
            "level1/094",
            {"predictions": rows, "targets": rows * 2},
            ((rows - rows * 2) ** 2).mean(),
        ),
        (
            "level1/095",
            {"predictions": rows, "targets": ids},
            torch.nn.CrossEntropyLoss()(rows, ids),
        ),
    ]
    for identifier, tensors, expected in given:
        (output,) = corpus.problem(identifier).reference(tensors).values()
        assert torch.equal(output, expected), identifier


def test_own_draws_are_the_benchmarks(corpus: Corpus) -> None:
    mse = corpus.problem("level1/094")
    drawn = own_draw(mse, dimensions(mse, {"rows": 5, "cols": 7}), TRIAL_SEEDS[0])
    torch.manual_seed(TRIAL_SEEDS[0])
    scale = torch.rand(())
    assert torch.equal(drawn["predictions"], torch.rand(5, 7) * scale)
    assert torch.equal(drawn["targets"], torch.rand(5, 7))
    entropy = corpus.problem("level1/095")
    drawn = own_draw(entropy, dimensions(entropy, {"rows": 5, "classes": 7}), TRIAL_SEEDS[1])
    torch.manual_seed(TRIAL_SEEDS[1])
    assert torch.equal(drawn["predictions"], torch.rand(5, 7))
    assert torch.equal(drawn["targets"], torch.randint(0, 7, (5,)))
    matvec = corpus.problem("level1/004")
    drawn = own_draw(matvec, dimensions(matvec, {"m": 5, "k": 7}), TRIAL_SEEDS[2])
    torch.manual_seed(TRIAL_SEEDS[2])
    assert torch.equal(drawn["a"], torch.rand(5, 7))
    assert torch.equal(drawn["b"], torch.rand(7, 1))


@pytest.mark.parametrize("how", ["uniform", "normal", "offset", "wide"])
@pytest.mark.parametrize("identifier", FLOAT_IDS)
def test_torch_controls_are_right(corpus: Corpus, identifier: str, how: str) -> None:
    problem = corpus.problem(identifier)
    (name,) = (spec.name for spec in problem.outputs)
    for values in shapes_of(problem):
        tensors = draw(problem, values, how)
        before = {n: t.clone() for n, t in tensors.items()}
        reference = problem.reference(tensors)
        truth = problem.reference(widened(tensors))[name]
        length = reduction_length(problem, values)
        floor = floors(problem, tensors, reference, length, False)[Statistic.RMS]
        # A serial sum of like terms rounds the same way every time: it errs by n units.
        allowed = max(8 * error(reference[name], truth), max(8, math.sqrt(length)) * floor)
        for control in problem.controls:
            if control.run is None:
                continue
            output = control.run(tensors)[name]
            assert output.shape == truth.shape, control.name
            assert output.dtype == torch.float32, control.name
            assert error(output, truth) <= allowed, (control.name, values)
        assert all(torch.equal(tensors[n], before[n]) for n in tensors), "inputs were written to"


@pytest.mark.parametrize("identifier", ["level1/004", "level1/047", "level1/089"])
def test_integer_inputs_make_every_order_exact(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    assert problem.exact_lattice
    for values in shapes_of(problem):
        tensors = draw(problem, values, "integers")
        (truth,) = problem.reference(widened(tensors)).values()
        for control in problem.controls:
            if control.run is not None:
                (output,) = control.run(tensors).values()
                assert torch.equal(output.double(), truth), (control.name, values)


@pytest.mark.parametrize("identifier", FLOAT_IDS)
def test_controls_round_differently_unless_they_say_so(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    sizes = {"level1/094": {"rows": 64}, "level1/036": {"batch": 3, "dim1": 8}}
    values = dimensions(problem, smallest_sizes(problem) | sizes.get(identifier, {}))
    # The one number of a loss may well be rounded alike: what counts is several draws.
    different: set[str] = set()
    for seed in range(4):
        tensors = draw(problem, values, "normal", seed)
        (reference,) = problem.reference(tensors).values()
        for control in problem.controls:
            if control.run is None:
                continue
            (output,) = control.run(tensors).values()
            if not torch.equal(output, reference):
                assert not control.identical, control.name
                different.add(control.name)
    assert len(different) >= (3 if identifier == "level1/026" else 6), different


def test_controls_of_gelu_follow_the_formula_on_special_values(corpus: Corpus) -> None:
    # torch's own on a CPU does not: it makes NaN of infinity and infinity of 3e38.
    x = torch.tensor([[math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-42, 3e38, -3e38, -2.0, 9.0]])
    expected = gelu_in_double(x)
    for control in corpus.problem("level1/026").controls:
        if control.run is None or control.kind == "eager":
            continue
        output = control.run({"x": x})["y"].double()
        assert torch.equal(output.isnan(), expected.isnan()), control.name
        close = torch.isclose(output, expected, atol=2e-45, rtol=4e-6, equal_nan=True)
        assert bool(close.all()), control.name


def test_controls_of_argmax_choose_the_first_or_an_equal_one(corpus: Corpus) -> None:
    problem = corpus.problem("level1/051")
    assert problem.value_of is not None
    for values in shapes_of(problem):
        for ties in (False, True):
            tensors = draw(problem, values, "integers" if ties else "normal")
            if not ties:
                tensors["x"].view(-1)[::97] = math.nan
            reference = problem.reference(tensors)
            right = problem.value_of(tensors, reference)["y"]
            for control in problem.controls:
                assert control.run is not None
                output = control.run(tensors)
                assert output["y"].dtype == torch.int64
                chosen = problem.value_of(tensors, output)["y"]
                assert torch.equal(chosen.nan_to_num(9e9), right.nan_to_num(9e9)), control.name
                if control.identical:
                    assert torch.equal(output["y"], reference["y"]), (control.name, values)
    tensors = {"x": torch.zeros(1, 4, 2)}
    last = next(c for c in problem.controls if c.name == "last")
    assert last.run is not None
    assert last.run(tensors)["y"].tolist() == [[3, 3]]


def test_no_null_is_right_about_a_single_number(corpus: Corpus) -> None:
    for identifier in ("level1/094", "level1/095"):
        problem = corpus.problem(identifier)
        tensors = draw(problem, dimensions(problem, smallest_sizes(problem)), "normal")
        reference = problem.reference(tensors)
        right = float(reference["loss"])
        for null in NULLS:
            output = null.outputs(tensors, reference)["loss"]
            assert output.shape == ()
            assert output.dtype == torch.float32
            assert not abs(float(output) - right) <= 1e-2 * (1 + right), null.name


def test_magnitudes_bound_the_outputs(corpus: Corpus) -> None:
    for identifier in FLOAT_IDS:
        problem = corpus.problem(identifier)
        if problem.magnitude is None:
            continue
        tensors = widened(draw(problem, dimensions(problem, smallest_sizes(problem)), "normal"))
        truth, magnitude = problem.reference(tensors), problem.magnitude(tensors)
        for name, output in truth.items():
            assert (magnitude[name] >= output.abs() * (1 - 1e-12)).all()


def test_blocks_have_128_or_256_threads_and_demo_grids_several_blocks(corpus: Corpus) -> None:
    for problem in map(corpus.problem, IDS):
        values = plan_shape(problem, PROFILES["demo"].limits).dimensions
        for substrate in problem.substrates:
            launches = substrate.plan.resolve(values, problem.scalars).launches
            for launch in launches:
                assert math.prod(launch.block) in (128, 256), (problem.id, launch.kernel)
            # What is left over of a whole tensor is one block's work.
            several = launches if problem.outputs[0].shape else launches[:1]
            assert all(math.prod(launch.grid) > 1 for launch in several), problem.id


def test_shrunk_dimensions_keep_the_tails_of_every_grid(corpus: Corpus) -> None:
    for identifier, name, tile in [
        ("level1/004", "m", 128),
        ("level1/004", "k", 256),
        ("level1/036", "positions", 16),
        ("level1/036", "features", 8),
        ("level1/047", "dim2", 128),
        ("level1/051", "dim2", 128),
        ("level1/089", "cols", 128),
        ("level1/089", "rows", 4),
        ("level1/094", "elements", 1024),
        ("level1/095", "classes", 128),
        ("level1/095", "rows", 128),
    ]:
        problem = corpus.problem(identifier)
        full, small = contract(problem), dimensions(problem, smallest_sizes(problem))
        assert full[name] % tile == small[name] % tile, (identifier, name)


@pytest.mark.parametrize("profile", ["demo", "quick"])
def test_the_small_profiles_measure_six_problems(corpus: Corpus, profile: str) -> None:
    wanted = ["level1/001", "level1/019", "level1/023", "level1/040", "level1/042", "level1/050"]
    assert list(PROFILES[profile].problems) == wanted
    assert set(wanted) | set(IDS) <= set(corpus.problems)


@pytest.mark.parametrize("identifier", IDS)
def test_kernels_compile_for_gpus_without_a_warning(corpus: Corpus, identifier: str) -> None:
    library = nvrtc()
    if library is None:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    problem = corpus.problem(identifier)
    for substrate in all_substrates(problem):
        text = sources(problem, substrate)[substrate.source]
        for architecture in ("sm_80", "sm_90", "sm_100"):
            status, log = compile_log(library, substrate.source, text, architecture)
            assert (status, log) == (0, ""), (substrate.source, architecture, INCLUDE)
