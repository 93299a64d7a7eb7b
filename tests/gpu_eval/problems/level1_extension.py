"""Problems 4, 26, 36, 47, 51, 89, 94 and 95: their odd shapes, and tensors for them."""

from collections.abc import Iterator

import torch

from gpu_eval.devices.base import Case
from gpu_eval.problems.definition import Problem, Structure, TensorSpec
from gpu_eval.problems.tensors import dimensions, shape_of, smallest_sizes

ODD_SIZES = {
    "level1/004": [{"m": 1, "k": 1}, {"m": 127, "k": 255}, {"m": 131, "k": 257}, {"m": 9, "k": 12}],
    "level1/026": [{"rows": 1, "cols": 1}, {"rows": 3, "cols": 341}, {"rows": 5, "cols": 257}],
    "level1/036": [
        {"batch": 1, "features": 1, "dim1": 1, "dim2": 1},
        {"batch": 3, "features": 61, "dim1": 5, "dim2": 7},
        {"batch": 2, "features": 9, "dim1": 3, "dim2": 5},
    ],
    "level1/047": [
        {"batch": 1, "dim1": 1, "dim2": 1},
        {"batch": 3, "dim1": 31, "dim2": 127},
        {"batch": 2, "dim1": 257, "dim2": 129},
    ],
    "level1/051": [
        {"batch": 1, "dim1": 1, "dim2": 1},
        {"batch": 3, "dim1": 31, "dim2": 127},
        {"batch": 2, "dim1": 257, "dim2": 129},
    ],
    "level1/089": [
        {"rows": 1, "cols": 1},
        {"rows": 3, "cols": 127},
        {"rows": 7, "cols": 131},
        {"rows": 2, "cols": 4225},
    ],
    "level1/094": [
        {"rows": 1, "cols": 1},
        {"rows": 3, "cols": 43},
        {"rows": 31, "cols": 33},
        {"rows": 61, "cols": 127},
    ],
    "level1/095": [
        {"rows": 1, "classes": 2},
        {"rows": 3, "classes": 127},
        {"rows": 131, "classes": 13},
        {"rows": 130, "classes": 129},
    ],
}
IDS = list(ODD_SIZES)
FLOAT_IDS = [identifier for identifier in IDS if identifier != "level1/051"]


def draw(
    problem: Problem, values: dict[str, int], how: str, seed: int = 7
) -> dict[str, torch.Tensor]:
    """Return tensors of one kind; class ids are uniform, whatever the kind."""
    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, torch.Tensor] = {}
    for spec in (*problem.inputs, *problem.parameters):
        shape = shape_of(spec, values)
        if isinstance(spec, TensorSpec) and spec.structure is Structure.CLASS_IDS:
            tensors[spec.name] = torch.randint(0, values[spec.classes], shape, generator=generator)
            continue
        x = torch.randn(shape, generator=generator)
        match how:
            case "uniform":
                x = torch.rand(shape, generator=generator)
            case "offset":
                x = 100 + x
            case "wide":
                x = x * 30
            case "integers":
                x = (x * 3).round()
        tensors[spec.name] = x
    return tensors


def shapes_of(problem: Problem) -> Iterator[dict[str, int]]:
    """Yield the smallest congruent shape, then the odd ones."""
    for sizes in (smallest_sizes(problem), *ODD_SIZES[problem.id]):
        yield dimensions(problem, sizes)


def widened(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return floats in fp64 and integers as they are."""
    return {n: t.double() if t.is_floating_point() else t for n, t in tensors.items()}


def case_of(problem: Problem, tensors: dict[str, torch.Tensor], key: str) -> Case:
    """Return a case with its references."""
    reference = {n: t.contiguous() for n, t in problem.reference(tensors).items()}
    truth = {n: t.contiguous() for n, t in problem.reference(widened(tensors)).items()}
    return Case(key, tensors, reference, truth, problem.value_of)


def gelu_in_double(x: torch.Tensor) -> torch.Tensor:
    """Return x (1 + erf(x / sqrt 2)) / 2 in fp64, by the complement."""
    wide = x.double()
    return wide * (torch.erfc(-wide / 2**0.5) * 0.5)
