"""The mutants of all problems together, counted for the held-out objective."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Training:
    """Training sets over the mutants of all problems, counted once for all problems.

    Attributes
    ----------
    seen : ndarray of float32, shape (all mutants, folds)
        1 where a mutant is trained on.
    by_operation : ndarray of float32, shape (operation classes, classes, folds)
        Mutants trained on.
    """

    seen: NDArray[np.float32]
    by_operation: NDArray[np.float32]

    def some(self, folds: NDArray[np.bool_]) -> "Training":
        """Return some of the training sets."""
        return self.at(np.flatnonzero(folds))

    def at(self, folds: NDArray[np.intp]) -> "Training":
        """Return the training sets at some ascending places."""
        if len(folds) == self.seen.shape[1]:
            return self
        return Training(self.seen.take(folds, axis=1), self.by_operation.take(folds, axis=2))


@dataclass(frozen=True, eq=False)
class Pool:
    """The mutants of all problems, one problem behind the other.

    Attributes
    ----------
    labels : ndarray of intp, shape (all mutants,)
        Number of the class of each.
    operations : ndarray of intp, shape (all mutants,)
        Number of its problem's operation class.
    operation_classes : int
        How many there are; a problem without mutants may be alone in one.
    """

    labels: NDArray[np.intp]
    operations: NDArray[np.intp]
    operation_classes: int

    @property
    def classes(self) -> int:
        """How many there are."""
        return int(self.labels.max(initial=-1)) + 1

    def training(self, training: NDArray[np.bool_]) -> Training:
        """Count training sets, shape (folds, all mutants)."""
        seen = np.ascontiguousarray(training.T, dtype=np.float32)
        shape = (self.operation_classes, self.classes, len(training))
        cells = indicator(self.operations * self.classes + self.labels, shape[0] * shape[1])
        return Training(seen, (cells @ seen).reshape(shape))


def indicator(numbers: NDArray[np.intp], count: int) -> csr_array:
    """Table with a 1 at (number, place) of each place: its product adds up by number."""
    ones = np.ones(len(numbers), dtype=np.float32)
    return csr_array((ones, (numbers, np.arange(len(numbers)))), shape=(count, len(numbers)))
