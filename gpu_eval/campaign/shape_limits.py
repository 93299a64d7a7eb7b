"""What a cell of a shape may cost."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """What a cell may cost; the smallest shape congruent to the contract may exceed it.

    Attributes
    ----------
    max_outputs : int
        Elements of all outputs together.
    max_reduction : int
        Terms that one output sums.
    max_elements : int or None
        Elements of all tensors together; None: as many as the other limits allow.
    max_work : int or None
        Multiplications and additions, counted as one (`work`).
    max_seconds : float or None
        Of one cell on a GPU, by estimate (`gpu_eval.campaign.cell_cost.seconds`).
    target_elements : int or None
        Where given, only the limits above shorten a reduction, and parallel dimensions grow until
        all tensors together have so many elements.
    """

    max_outputs: int
    max_reduction: int
    max_elements: int | None = None
    max_work: int | None = None
    max_seconds: float | None = None
    target_elements: int | None = None

    def growing_from(self, elements: int) -> "Limits":
        """Return what parallel dimensions may grow to, from a shape of so many elements."""
        if self.target_elements is None:
            return self
        target = max(self.target_elements, elements)
        return replace(self, max_elements=min(target, self.max_elements or target))
