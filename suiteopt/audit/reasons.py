"""Why a fault survives a check: the reasons, each with the rule that finds it."""

from enum import StrEnum


class Reason(StrEnum):
    """Why a mutant that is wrong passes; the first rule that holds, in this order.

    An error is *seen* on an input when it exceeds what the worst correct kernel shows there and
    what the rounding model allows, in units of the check's own comparator.
    """

    RACE = "race"
    """Some repeat is rejected and some is not, or its only witness is a race."""
    BELOW_ATOL = "below_atol"
    """Seen on an input of the check whose output is so small that the absolute part of the
    tolerance outweighs the relative one; the same tolerance of the output's RMS rejects it."""
    MASKED = "masked_by_tolerance"
    """Seen on an input of the check, below its tolerance."""
    NOT_RUN = "not_run"
    """Nothing is known of it on some input of the check, so that it need not survive; or the check
    has no input of its problem."""
    SHAPE = "shape_not_reached"
    """Only inputs of other shapes than the check's kill it."""
    IDENTITY = "identity_parameters"
    """Only inputs with other parameters than the check's kill it."""
    TIE = "tie_or_symmetry"
    """Only inputs with ties kill it, and the check has none; or all that the check has are
    symmetric."""
    SATURATION = "saturation"
    """An input of the check kills it at another scale or sign: what it does there is absorbed by
    a clipped, saturated or rounded operation."""
    NOT_REACHED = "not_reached"
    """Some other input kills it."""
    UNWRITTEN = "unwritten_over_stale"
    """No input kills it: elements stay unwritten over a result that is right."""
    OUT_OF_BOUNDS = "out_of_bounds"
    """No input kills it: it writes beside the output."""
    MASKED_EVERYWHERE = "masked_everywhere"
    """Seen on inputs that the check has not, and below the tolerance there, too."""
    EQUIVALENT = "equivalent_in_fact"
    """No input of any pool shows more than rounding."""


EXPLANATIONS = {
    Reason.RACE: "it races: equal runs differ, and none is rejected every time",
    Reason.BELOW_ATOL: "its error drowns in the absolute part of the tolerance",
    Reason.MASKED: "its error is below the tolerance",
    Reason.NOT_RUN: "nothing is known of it on some input of the check, or the check has none",
    Reason.IDENTITY: "the check's parameters absorb it (a scale of 1, a bias of 0)",
    Reason.SHAPE: "the check's shapes never reach it",
    Reason.TIE: "the check's values have no ties, or too much symmetry, to show it",
    Reason.SATURATION: "a saturated operation absorbs it at this scale and sign",
    Reason.NOT_REACHED: "the check's values never reach it",
    Reason.UNWRITTEN: "it leaves elements unwritten over a stale result that is right",
    Reason.OUT_OF_BOUNDS: "it writes beside the output, which no output shows",
    Reason.MASKED_EVERYWHERE: "its error is below the tolerance on every input of the pool",
    Reason.EQUIVALENT: "on every input of the pools it does no more than round",
}
"""What a person is told."""

RECIPE_WOULD_HELP = frozenset(
    {Reason.IDENTITY, Reason.SHAPE, Reason.TIE, Reason.SATURATION, Reason.NOT_REACHED}
)
"""Reasons that another input cures; the others ask for another tolerance or another means."""
