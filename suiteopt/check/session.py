"""A referee's process for one problem, as this process sees it."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suiteopt.check.child import Child, ChildError, ChildStartError
from suiteopt.check.plain import plain
from suiteopt.check.settings import Settings, scratch
from suiteopt.check.verdict import Outcome, Status
from suiteopt.errors import MissingExtraError, UserError
from suiteopt.export.forward import order_tensors
from suiteopt.export.measured import require_sane
from suiteopt.export.parameter_names import parameter_names
from suiteopt.export.suite_oracle import suite_oracle
from suiteopt.protocols.protocol import OWN_DRAWS, Protocol
from suiteopt.suite import ProblemSuite, Suite

REFEREE_SECONDS = 3600.0
REFEREE_ANSWER = 1 << 26


def own_draws(protocol: Protocol) -> int:
    """Return how many of the benchmark's own draws a protocol runs.

    Raises
    ------
    UserError
        If it runs anything else, or its tolerance is calibrated.
    """
    rule = protocol.inputs[0]
    same = (rule.values, rule.parameters, rule.shape) == (OWN_DRAWS, "benchmark", "contract")
    if len(protocol.inputs) > 1 or not same or rule.count is None or protocol.oracle.calibrated:
        raise UserError(
            f"the protocol {protocol.name} is more than own draws at one tolerance; candidates are "
            "judged beside one that is just that, such as kernelbench"
        )
    return rule.count


@dataclass(frozen=True)
class Session:
    """A referee that has opened its problem.

    Attributes
    ----------
    child : Child
    reference : Path
    device : str
        Where it computes.
    plan : tuple of Outcome
        What there is to judge, own draws first, nothing judged yet.
    draws : int
        How many of these are own draws.
    """

    child: Child
    reference: Path
    device: str
    plan: tuple[Outcome, ...]
    draws: int

    def ask(self, **request: Any) -> dict[str, Any]:
        """Ask the referee.

        Raises
        ------
        UserError
            If it fails.
        """
        return _asked(self.child, self.reference, request)


@contextmanager
def open_session(
    reference: Path, problem: ProblemSuite, suite: Suite, protocol: Protocol, settings: Settings
) -> Iterator[Session]:
    """Start a referee for one problem."""
    for member in problem.members:
        require_sane(member, f"{problem.problem}, member {member.input}")
    names = order_tensors(problem.members[0].values, reference.read_bytes(), str(reference))
    oracle = protocol.oracle
    own: dict[str, Any] = {
        "draws": own_draws(protocol),
        "comparator": str(oracle.comparator),
        "tolerance": oracle.fixed_tolerance(problem.dtype),
        "nonfinite": str(oracle.nonfinite),
    }
    with ExitStack() as stack:
        folder = Path(stack.enter_context(scratch("referee")))
        child = Child("suiteopt.check.referee", folder, os.environ, REFEREE_ANSWER)
        stack.enter_context(child)
        request = {
            "op": "open",
            "reference": str(reference),
            "device": settings.device,
            "names": names,
            "own": own,
            "members": _members(suite, problem),
            "nonfinite": str(suite_oracle(suite).nonfinite),
            "parameter_names": dict(parameter_names(problem.problem, problem.benchmark)),
            "max_bytes": settings.max_bytes,
        }
        opened = _asked(child, reference, request)
        if "cannot" in opened:
            raise UserError(f"{reference} cannot be the reference: {opened['cannot']}")
        plan = [
            Outcome(f"own draw {seed}", Status.CANNOT, own["comparator"], own["tolerance"])
            for seed in opened["seeds"]
        ] + [
            Outcome(member.input, Status.CANNOT, member.comparator, member.tolerance)
            for member in problem.members
        ]
        yield Session(child, reference, opened["device"], tuple(plan), own["draws"])


def _members(suite: Suite, problem: ProblemSuite) -> Any:
    """Return a problem's members as a suite's file holds them."""
    problems = json.loads(suite.to_json())["problems"]
    return next(one["members"] for one in problems if one["problem"] == problem.problem)


def _asked(child: Child, reference: Path, request: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = child.ask(request, REFEREE_SECONDS)
    except ChildStartError as error:
        if "No module named 'torch'" in str(error):
            raise MissingExtraError("torch", "eval") from error
        raise UserError(f"the referee's process did not start: {error}") from error
    except ChildError as error:
        raise UserError(f"the reference {reference} ended the referee: {error}") from error
    if "error" in answer:
        raise UserError(f"the reference {reference} fails: {plain(answer['error'])}")
    return answer
