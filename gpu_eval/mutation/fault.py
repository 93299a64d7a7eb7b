"""What a fault is: one deterministic edit at one site by one rule."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_eval.problems.plan import LaunchPlan
from suiteopt.matrix.schema import Family


@dataclass(frozen=True, slots=True)
class Span:
    """Where an edited expression stands: byte offsets, and lines and columns from 1."""

    file: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Fault:
    """One edit of a substrate; together with the substrate it is a mutant.

    Attributes
    ----------
    id : str
        ``<problem>:<file>:<rule>:<ordinal>``, the same for the same source and version.
    problem, substrate : str
        Ids of what is edited.
    rule : str
    family : Family
    span : Span
        In a source file, or in the rendered plan (file ``<substrate>.plan``).
    before, after : str
        The text of the span before and after.
    plan : LaunchPlan or None
        For launch faults: the plan after the edit. None for edits of source.
    """

    id: str
    problem: str
    substrate: str
    rule: str
    family: Family
    span: Span
    before: str
    after: str
    plan: LaunchPlan | None = None

    def apply(self, files: Mapping[str, str]) -> dict[str, str]:
        """Return the source files after the edit (unchanged for a launch fault)."""
        edited = dict(files)
        if self.plan is None:
            data = edited[self.span.file].encode()
            changed = data[: self.span.start] + self.after.encode() + data[self.span.end :]
            edited[self.span.file] = changed.decode()
        return edited
