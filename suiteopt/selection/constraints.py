"""What a selection must respect: a target's abilities, and inputs that must or must not be in."""

from dataclasses import dataclass

from suiteopt.errors import UserError
from suiteopt.matrix.schema import Need


@dataclass(frozen=True)
class Capabilities:
    """What a target can carry, as far as selection has to know.

    Attributes
    ----------
    needs : frozenset of Need
        Whatever an input needs must be among these.
    oracle : str or None
        The oracle that the target's harness applies; None where the suite brings its own.
    member_limit : int or None
        The most members that the target can hold for a problem.
    own_first : bool
        Whether the harness runs the benchmark's own draws before the members, so that a suite
        is chosen on own union members.
    draws : bool
        Whether the harness's own draw is the measured one; otherwise an input that is an own
        draw, or a multiple of one, cannot be served as it was measured.
    """

    needs: frozenset[Need]
    oracle: str | None
    member_limit: int | None
    own_first: bool
    draws: bool = True

    def carries(self, needs: frozenset[Need]) -> bool:
        """Whether an input with these needs can be exported."""
        return needs <= self.needs


@dataclass(frozen=True)
class Constraints:
    """Inputs that must be chosen, and inputs that must not be, by id."""

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        both = sorted(self.include & self.exclude)
        if both:
            raise UserError(f"input '{both[0]}' is both included and excluded; drop one of the two")


LARGEST_BUDGET = 10_000


def check_budget(budget: int, capabilities: Capabilities | None = None) -> None:
    """Refuse a budget that buys nothing or that the target cannot hold.

    Raises
    ------
    UserError
    """
    if budget < 1:
        raise UserError(f"a budget of {budget} inputs per problem chooses nothing; give at least 1")
    if budget > LARGEST_BUDGET:
        raise UserError(
            f"a budget of more than {LARGEST_BUDGET} inputs per problem is beyond any pool; "
            "give a smaller one"
        )
    if (
        capabilities is not None
        and capabilities.member_limit is not None
        and budget > capabilities.member_limit
    ):
        raise UserError(
            f"the target holds at most {capabilities.member_limit} members per problem; "
            f"ask for a budget of {capabilities.member_limit} or less instead of {budget}"
        )
