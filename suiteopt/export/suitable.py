"""Whether a target can carry a suite: refused in a sentence that says what to do instead."""

from typing import TYPE_CHECKING

from suiteopt.errors import UserError
from suiteopt.export.measured import require_oracle, require_sane
from suiteopt.export.recipe_check import is_nonfinite, own_factor, recipe_fault
from suiteopt.matrix.schema import FORMAT_MAJOR, TRUTH_STATISTICS, Need
from suiteopt.suite import BENCHMARK_RECIPE, Member, ProblemSuite, Suite

if TYPE_CHECKING:
    from suiteopt.export.target import Target


def require_suitable(suite: Suite, target: "Target") -> None:
    """Refuse a suite that a target cannot carry; see `suiteopt.export.target.Target.check`."""
    if suite.matrix_format[0] != FORMAT_MAJOR:
        raise UserError(
            f"the suite comes from a matrix of format {suite.matrix_format[0]}, and this "
            f"version of suiteopt knows format {FORMAT_MAJOR}; select again on such a matrix"
        )
    if suite.target not in (None, target.name):
        raise UserError(
            f"the suite was chosen for the target '{suite.target}'; "
            f"{_select_again(target)} to export it to {target.name}"
        )
    if suite.members == 0:
        raise UserError("the suite has no members, so there is nothing to export")
    for problem in suite.problems:
        _check_problem(problem, target)
    require_oracle(suite, target.capabilities.oracle, target.name)


def _select_again(target: "Target") -> str:
    return f"run 'suiteopt select --target {target.name}' again"


def _check_problem(problem: ProblemSuite, target: "Target") -> None:
    if problem.dtype not in target.dtypes:
        raise UserError(
            f"{problem.problem} was measured in {problem.dtype}, and {target.name} carries "
            f"{', '.join(sorted(target.dtypes))} only; a dtype that was not measured is not "
            "exported"
        )
    limit = target.capabilities.member_limit
    if limit is not None and len(problem.members) > limit:
        raise UserError(
            f"{problem.problem} has {len(problem.members)} members, and {target.name} holds at "
            f"most {limit}; {_select_again(target)} with --budget {limit}"
        )
    inputs = [member.input for member in problem.members]
    for member in problem.members:
        if inputs.count(member.input) > 1:
            raise UserError(
                f"{problem.problem} has the member {member.input} twice; {_select_again(target)}"
            )
        _check_member(problem, member, target)


def _check_member(problem: ProblemSuite, member: Member, target: "Target") -> None:
    where = f"{problem.problem}, member {member.input}"
    if not member.values:
        raise UserError(f"{where} has no tensors; {_select_again(target)}")
    for tensor, recipe in member.values.items():
        fault = recipe_fault(recipe)
        if fault:
            raise UserError(f"{where}, tensor {tensor}: {fault}; {_select_again(target)}")
        if not target.draws and own_factor(recipe) is not None:
            raise UserError(
                f"{where}, tensor {tensor}: is the benchmark's own draw, and {target.name} "
                f"draws from another distribution than was measured; {_select_again(target)}"
            )
    for parameter, recipe in member.parameters.items():
        fault = "" if recipe["name"] == BENCHMARK_RECIPE else recipe_fault(recipe)
        if fault:
            raise UserError(f"{where}, parameter {parameter}: {fault}; {_select_again(target)}")
    require_sane(member, where)
    required = set(member.required)
    if any(is_nonfinite(recipe) for recipe in member.values.values()):
        required.add(Need.NONFINITE)
    lacking = sorted(required - target.capabilities.needs)
    if lacking:
        raise UserError(
            f"{where} needs a target that carries {', '.join(lacking)}, and {target.name} does "
            f"not; {_select_again(target)}"
        )
    if target.comparator is None or target.tolerance is None:
        if member.comparator in {str(statistic) for statistic in TRUTH_STATISTICS}:
            raise UserError(
                f"{where} is judged by {member.comparator}, which needs a reference in fp64, "
                f"and the harness of {target.name} has none; {_select_again(target)}"
            )
        return
    if member.comparator != target.comparator or member.tolerance != target.tolerance:
        raise UserError(
            f"{where} was chosen for {member.comparator} at {member.tolerance:g}, and "
            f"{target.name} judges by {target.comparator} at {target.tolerance:g}; "
            f"{_select_again(target)}"
        )
