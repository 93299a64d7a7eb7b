"""What a report says, before anything is drawn: what other packages found, or why they did not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from suiteopt.audit.blind_band import BlindBand
from suiteopt.audit.ceiling import Ceilings
from suiteopt.audit.detection import Audit
from suiteopt.audit.refereeability import Referee
from suiteopt.audit.survivors import Survey
from suiteopt.matrix.summary import MatrixSummary
from suiteopt.selection.report import MatrixSelection
from suiteopt.suite import Suite
from suiteopt.validation.result import CrossValidation

SHOWN = 200
"""Survivors with their diffs on the page, of each check; the CSV files have all."""


@dataclass(frozen=True, eq=False)
class Content:
    """Everything on the page; None where the matrix cannot say, with a sentence in ``absent``.

    Attributes
    ----------
    summary : MatrixSummary
    protocol : str
        The check before: a benchmark's own.
    title : str
        Of that check.
    before, after : Audit or None
        What it detects, and what the suite does.
    suite : Suite or None
    selection : MatrixSelection or None
        How the suite was chosen; None for one that was read from a file.
    validation : CrossValidation or None
    curve : tuple of mapping
        Points of detection against false rejection.
    band : BlindBand or None
    ceilings : Ceilings or None
    referees : tuple of Referee
    missed_before, missed_after : Survey or None
    diffs : mapping of str to str
        Edits of the survivors that are shown, by mutant.
    absent : mapping of str to str
        Why a part is not there, by its name.
    """

    summary: MatrixSummary
    protocol: str
    title: str
    before: Audit | None = None
    after: Audit | None = None
    suite: Suite | None = None
    selection: MatrixSelection | None = None
    validation: CrossValidation | None = None
    curve: tuple[Mapping[str, Any], ...] = ()
    band: BlindBand | None = None
    ceilings: Ceilings | None = None
    referees: tuple[Referee, ...] = ()
    missed_before: Survey | None = None
    missed_after: Survey | None = None
    diffs: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
