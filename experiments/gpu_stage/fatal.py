"""What a fatal mutant costs: one tiny campaign with mutants that fault, one without, in turn."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from experiments.gpu_stage.rows import Clock, Options, Row

TARGET = 0.2

# Where a mutated guard lets it, a thread takes the far place. It is far beyond any arena in the
# one campaign, and the thread's own place in the other; all else is the same.
KERNEL = """\
#define FAR FAR_PLACE
__global__ void rows(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    long long place = row < rows ? (long long)row : FAR;
    if (row < rows) {
        float sum = 0.0f;
        for (int i = 0; i < cols; ++i) {
            sum += x[row * cols + i];
        }
        y[place] = sum;
    }
}
"""
DEFINITION = """\
from gpu_eval.problems.definition import (
    Control, Dimension, DimensionKind, Problem, Substrate, TensorSpec,
)
from gpu_eval.problems.orders import ordered_controls, terms_of_rows
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass


def reference(tensors):
    return {"y": tensors["x"].sum(dim=1)}


def in_order(tensors, order):
    return {"y": order(terms_of_rows(tensors["x"]), tensors["x"].shape[1])}


PROBLEM = Problem(
    id="fatal/NAME",
    benchmark="fatal",
    level=0,
    name="NAME",
    operation_class=OperationClass.REDUCTION,
    dimensions=(
        Dimension("rows", 64, DimensionKind.PARALLEL, tile=32),
        Dimension("cols", COLUMNS, DimensionKind.REDUCED),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows",)),),
    reference=reference,
    reduction_length="cols",
    exact_lattice=True,
    substrates=(
        Substrate(
            name="plain",
            source="kernel.cu",
            plan=LaunchPlan(
                steps=(
                    Launch(
                        kernel="rows",
                        grid=("ceil_div(rows, 32)", "1", "1"),
                        block=("32", "1", "1"),
                        arguments=(pointer("x"), pointer("y"), int32("rows"), int32("cols")),
                    ),
                )
            ),
        ),
    ),
    controls=(
        *ordered_controls(in_order),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
"""
COLUMNS = (24, 40, 48, 56)


def write_corpus(directory: Path, far: str) -> tuple[str, ...]:
    """Write the problems; return their ids."""
    names = tuple(f"rows{columns}" for columns in COLUMNS)
    for name, columns in zip(names, COLUMNS, strict=True):
        place = directory / name
        place.mkdir(parents=True)
        text = DEFINITION.replace("NAME", name).replace("COLUMNS", str(columns))
        (place / "problem.py").write_text(text)
        (place / "kernel.cu").write_text(KERNEL.replace("FAR_PLACE", far))
    return tuple(f"fatal/{name}" for name in names)


def measure(options: Options) -> Iterator[Row]:
    """Yield the seconds that a campaign is longer for each fatal mutant."""
    # The second of two like campaigns is faster (files read, libraries loaded): one goes before.
    _campaign(options, "row", problems=1)
    plain, quiet, cells = _campaign(options, "row")
    fatal, lost, same = _campaign(options, "(1LL << 38)")
    added = lost - quiet
    figures = (
        f"{cells} cells: {plain:.1f} s with {quiet} mutants that end in an exception, "
        f"{fatal:.1f} s with {lost} ({same} cells)"
    )
    yield Row(
        4,
        "a fatal mutant (two inputs fault, a standby worker takes over)",
        (fatal - plain) / added if added > 0 else None,
        "s",
        TARGET,
        at_least=False,
        note=figures if added > 0 else f"no mutant was fatal: {figures}",
    )


def _campaign(options: Options, far: str, problems: int | None = None) -> tuple[float, int, int]:
    """Return a campaign's seconds, mutants that end in an exception, and cells."""
    from gpu_eval.campaign.device_settings import GPU_PROFILE
    from gpu_eval.campaign.plan import find_profile
    from gpu_eval.campaign.progress import Silent
    from gpu_eval.campaign.run import start
    from gpu_eval.campaign.settings import Settings
    from gpu_eval.devices.registry import open_device
    from suiteopt.matrix.schema import EXCEPTION_STATUSES
    from suiteopt.matrix.store import Matrix

    with tempfile.TemporaryDirectory() as directory:
        corpus = Path(directory) / "corpus"
        names = write_corpus(corpus, far)[:problems]
        device = open_device(options.device)
        profile = find_profile("demo")
        shared = find_profile(GPU_PROFILE)
        jobs = min(shared.jobs, options.cores)
        settings = Settings(
            profile="demo",
            device=options.device,
            problems=names,
            corpora=(str(corpus),),
            jobs=jobs,
            lanes=shared.lanes,
            compilers=0 if options.device == "cpu" else max(options.cores - jobs, 1),
            command="experiments.bench_gpu_stage",
            deadline_floor=device.deadline_floor,
            block=profile.block,
        )
        clock = Clock()
        root = Path(directory) / "matrix"
        start(root, settings, device, Silent())
        seconds = clock.seconds
        fatal, cells = 0, 0
        for name in names:
            found = Matrix.open(root).cells(name)
            gone = found[found["status"].astype(str).isin([str(s) for s in EXCEPTION_STATUSES])]
            # A refused launch takes nobody along.
            gone = gone[gone["status"].astype(str) != "launch_error"]
            fatal += gone["implementation"].astype(str).nunique()
            cells += len(found)
        return seconds, fatal, cells
