"""Wild kernels: foreign code that is judged by the matrix and never fitted on.

They ask whether injected faults stand for real ones. The wrong ones were written anew after
public reports of kernels that models or engineers got wrong; each names its report. The right
ones are what models write when they get it right. They never calibrate a tolerance, are never
mutants, and no selection looks at them (kind ``wild``). Their sources are complete files that
include nothing of this corpus, as a ``ModelNew`` is.
"""

import hashlib
from collections.abc import Sequence

from gpu_eval.problems.definition import Problem
from gpu_eval.problems.wild.kernel import Report, WildKernel, kernels_hash

__all__ = [
    "FOLDER",
    "INDEX",
    "Report",
    "WildKernel",
    "all_wild_kernels",
    "wild_kernels",
    "with_wild_kernels",
]

FOLDER = "wild"
"""Where their sources lie among those that travel with a matrix."""

INDEX = "wild.json"
"""What each of them is, beside the sources."""


def all_wild_kernels() -> tuple[WildKernel, ...]:
    """Return all, by problem, the wrong ones first."""
    from gpu_eval.problems.wild import elementwise, matmul, normalisation, pooling, reduction, rows

    modules = (matmul, elementwise, rows, normalisation, pooling, reduction)
    kernels = [kernel for module in modules for kernel in module.KERNELS]
    return tuple(sorted(kernels, key=lambda k: (k.problem, not k.wrong, k.name)))


def wild_kernels(problem: Problem) -> tuple[WildKernel, ...]:
    """Return those of one problem; none where it has none."""
    return tuple(kernel for kernel in all_wild_kernels() if kernel.problem == problem.id)


def with_wild_kernels(corpus_hash: str, problems: Sequence[Problem]) -> str:
    """Return the hash of a corpus together with its wild kernels."""
    found = kernels_hash([kernel for problem in problems for kernel in wild_kernels(problem)])
    return hashlib.sha256(f"{corpus_hash}\0{found}".encode()).hexdigest()
