"""A mutant shown as a unified diff of its substrate's files or of its rendered launch plan."""

from collections.abc import Mapping
from difflib import unified_diff as lines_diff

from gpu_eval.mutation.fault import Fault
from gpu_eval.problems.plan import LaunchPlan
from gpu_eval.problems.plan_text import render


def unified_diff(fault: Fault, files: Mapping[str, str], plan: LaunchPlan) -> str:
    """Return what a fault changes, as ``diff -u`` shows it.

    Parameters
    ----------
    fault : Fault
    files : mapping of str to str
        The substrate's files before the edit.
    plan : LaunchPlan
        Its launch plan before the edit.

    Returns
    -------
    str
        Ends in a line end. A file without a final line end is marked as ``diff`` marks it.
    """
    name = fault.span.file
    before = files[name] if fault.plan is None else render(plan)
    after = fault.apply(files)[name] if fault.plan is None else render(fault.plan)
    lines = lines_diff(
        _lines(before), _lines(after), fromfile=f"a/{name}", tofile=f"b/{name}", lineterm="\n"
    )
    marked = (
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return "".join(marked)


def _lines(text: str) -> list[str]:
    """Split at line feeds only: a form feed in a comment is no line end."""
    pieces = text.split("\n")
    ended = [piece + "\n" for piece in pieces[:-1]]
    return ended + ([pieces[-1]] if pieces[-1] else [])
