"""What a cell costs on a GPU, from the sizes of a problem's dimensions alone."""

import math
from collections.abc import Mapping

from gpu_eval.problems.definition import Problem
from gpu_eval.problems.expressions import evaluate
from gpu_eval.problems.tensors import all_specs, reduction_length, shape_of
from suiteopt.matrix.schema import OperationClass

BYTES_A_SECOND = 4e12
OPERATIONS_A_SECOND = 7e12
CELL_SECONDS = 0.15e-3
"""An H200's memory, what a straightforward kernel reaches of its arithmetic, and what a cell costs
in launches and Python whatever its size."""

_PRODUCTS = frozenset({OperationClass.MATMUL, OperationClass.CONVOLUTION, OperationClass.ATTENTION})


def output_elements(problem: Problem, values: Mapping[str, int]) -> int:
    """Return the number of elements of all outputs; ``values`` as `dimensions` gives them."""
    return sum(math.prod(shape_of(spec, values)) for spec in problem.outputs)


def tensor_elements(problem: Problem, values: Mapping[str, int]) -> int:
    """Return the number of elements of all inputs, parameters and outputs."""
    return sum(math.prod(shape_of(spec, values)) for spec in all_specs(problem))


def held_elements(problem: Problem, values: Mapping[str, int]) -> int:
    """Return the elements of the largest tensor that the operation makes, outputs included."""
    return max(output_elements(problem, values), evaluate(problem.held, values))


def work(problem: Problem, values: Mapping[str, int]) -> int:
    """Return how many multiply-adds a straightforward kernel does.

    Every output of a product of matrices (and of what is built like one) sums terms of its own;
    other operations look at each element a few times.
    """
    if problem.work:
        return evaluate(problem.work, values) + tensor_elements(problem, values)
    if problem.operation_class in _PRODUCTS:
        return output_elements(problem, values) * reduction_length(problem, values)
    return tensor_elements(problem, values)


def seconds(problem: Problem, values: Mapping[str, int]) -> float:
    """Return what one cell takes: launches, bytes moved by run and comparison, arithmetic."""
    outputs = output_elements(problem, values)
    others = tensor_elements(problem, values) - outputs
    # Inputs are read by the kernel and compared with their pristine copy; outputs are poisoned,
    # written, and compared with a reference of 4 bytes an element and a truth of 8.
    moved = 4 * 3 * others + (4 + 4 + 16) * outputs
    operations = 2 * work(problem, values)
    return CELL_SECONDS + moved / BYTES_A_SECOND + operations / OPERATIONS_A_SECOND
