"""Ask the other packages for what a report says."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from suiteopt.audit.checks import Check, protocol_check, suite_check
from suiteopt.audit.diff import mutant_diff
from suiteopt.audit.score import audit_check
from suiteopt.audit.survivors import Survey, survey
from suiteopt.errors import UserError
from suiteopt.export.registry import get_target
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.summary import summarise
from suiteopt.protocols import Protocol, load_protocol
from suiteopt.report.content import SHOWN, Content
from suiteopt.selection.constraints import Capabilities
from suiteopt.selection.export import to_suite
from suiteopt.selection.report import MatrixSelection
from suiteopt.selection.select import select
from suiteopt.suite import Suite
from suiteopt.validation.result import CrossValidation

T = TypeVar("T")

_STEPS = {
    "before": "the check before",
    "survivors": "survivors of the suite",
    "after": "the suite as a check",
    "validation": "cross-validation",
    "curve": "the tolerance curve",
    "band": "the blind band",
    "ceilings": "ceilings",
    "referees": "which problems can be refereed",
}
"""What a person is told of each question."""


@dataclass(frozen=True)
class Wanted:
    """What a report is asked to be about.

    Attributes
    ----------
    protocol : str
        The check before.
    suite : path or None
        The check after; chosen where none is given.
    budget : int
        Inputs a problem, of a suite that is chosen.
    oracle, target : str or None
        Of a suite that is chosen.
    repeats : int
        Of cross-validation.
    denominator : Denominator
    incomplete : bool
        Whether an incomplete matrix is taken as it is.
    command : str
        For the record.
    """

    protocol: str = "kernelbench"
    suite: Path | None = None
    budget: int = 2
    oracle: str | None = None
    target: str | None = None
    repeats: int = 20
    denominator: Denominator = Denominator.WITNESSED
    incomplete: bool = False
    command: str = ""


class _Collector:
    """Asks one question after the other; a refusal becomes a sentence of the page."""

    def __init__(self, matrix: Matrix, wanted: Wanted, tell: Callable[[str], None]) -> None:
        self.matrix, self.wanted, self.tell = matrix, wanted, tell
        self.absent: dict[str, str] = {}

    def ask(self, name: str, question: Callable[[], T]) -> T | None:
        self.tell(_STEPS[name])
        try:
            return question()
        except UserError as error:
            self.absent[name] = str(error)
            return None


def collect(
    matrix: Matrix, wanted: Wanted, tell: Callable[[str], None] = lambda step: None
) -> Content:
    """Collect what a matrix says; what it cannot say is named.

    Parameters
    ----------
    matrix : Matrix
    wanted : Wanted
    tell : callable
        Is told what is done next, in some words.

    Raises
    ------
    UserError
        If the matrix is incomplete and may not be, the protocol or target is unknown, the suite
        is not of this matrix, or no suite can be chosen.
    """
    if not matrix.meta.complete and not wanted.incomplete:
        raise UserError(
            f"the matrix at {matrix.path} is incomplete; finish it with `gpu-eval resume`, or give "
            "--allow-incomplete to report what is measured"
        )
    protocol = load_protocol(wanted.protocol)
    capabilities = None if wanted.target is None else get_target(wanted.target).capabilities
    tell("the suite")
    suite, chosen = _suite(matrix, wanted, capabilities)
    oracle = wanted.oracle
    if chosen is None:  # what a suite was made by is in its file
        wanted = replace(wanted, budget=suite.budget, target=suite.target)
        capabilities = None if suite.target is None else get_target(suite.target).capabilities
        oracle = None if suite.target is not None else suite.oracle
    asker = _Collector(matrix, wanted, tell)
    after = suite_check(matrix, suite, f"{suite.budget} chosen inputs, {suite.oracle}")
    before = asker.ask("before", lambda: protocol_check(matrix, protocol))
    missed_before = None if before is None else asker.ask("before", lambda: _survey(asker, before))
    missed_after = asker.ask("survivors", lambda: _survey(asker, after))
    return Content(
        summary=summarise(matrix),
        protocol=protocol.name,
        title=protocol.title,
        before=None
        if before is None
        else asker.ask("before", lambda: audit_check(matrix, before, wanted.denominator)),
        after=asker.ask("after", lambda: audit_check(matrix, after, wanted.denominator)),
        suite=suite,
        selection=chosen,
        validation=asker.ask("validation", lambda: _validate(asker, oracle, capabilities)),
        curve=asker.ask("curve", lambda: _curve(asker, capabilities)) or (),
        band=asker.ask("band", lambda: _band(matrix, protocol)),
        ceilings=asker.ask("ceilings", lambda: _ceilings(matrix)),
        referees=asker.ask("referees", lambda: _referees(matrix, protocol)) or (),
        missed_before=missed_before,
        missed_after=missed_after,
        diffs=_diffs(matrix, missed_before, missed_after),
        absent=asker.absent,
    )


def _suite(
    matrix: Matrix, wanted: Wanted, capabilities: Capabilities | None
) -> tuple[Suite, MatrixSelection | None]:
    if wanted.suite is not None:
        return Suite.open(wanted.suite), None
    chosen = select(
        matrix,
        wanted.budget,
        wanted.oracle,
        capabilities=capabilities,
        target=wanted.target,
        denominator=wanted.denominator,
        allow_incomplete=wanted.incomplete,
    )
    return to_suite(chosen, matrix, wanted.command), chosen


def _survey(asker: _Collector, check: Check) -> Survey:
    return survey(asker.matrix, check, asker.wanted.denominator)


def _validate(
    asker: _Collector, oracle: str | None, capabilities: Capabilities | None
) -> CrossValidation:
    from suiteopt.validation.crossval import cross_validate

    wanted = asker.wanted
    return cross_validate(
        asker.matrix,
        wanted.budget,
        oracle,
        capabilities=capabilities,
        target=wanted.target,
        repeats=wanted.repeats,
        denominator=wanted.denominator,
        allow_incomplete=wanted.incomplete,
    )


def _curve(asker: _Collector, capabilities: Capabilities | None) -> tuple[dict[str, Any], ...]:
    from suiteopt.selection.question import ask
    from suiteopt.validation.curve import curve

    wanted = asker.wanted
    free = None if capabilities is None else replace(capabilities, oracle=None)
    question = ask(None, free, wanted.denominator, False, wanted.incomplete)
    return tuple(point.as_dict() for point in curve(asker.matrix, question, wanted.budget))


def _band(matrix: Matrix, protocol: Protocol) -> Any:
    from suiteopt.audit.blind_band import blind_band

    return blind_band(matrix, protocol)


def _ceilings(matrix: Matrix) -> Any:
    from suiteopt.audit.ceiling import ceilings

    return ceilings(matrix)


def _referees(matrix: Matrix, protocol: Protocol) -> Any:
    from suiteopt.audit.refereeability import refereeability

    return refereeability(matrix, protocol)


def _diffs(matrix: Matrix, *surveys: Survey | None) -> dict[str, str]:
    names = (row.implementation for found in surveys if found for row in found.survivors[:SHOWN])
    found = {name: mutant_diff(matrix, name) for name in dict.fromkeys(names)}
    return {name: text for name, text in found.items() if text}
