"""Which problems KernelBench's own inputs can referee, and from which tolerance on."""

from experiments.findings.common import Finding, report, scope, table
from suiteopt.audit.ceiling import TOLERANCES
from suiteopt.audit.referee_reasons import Defect
from suiteopt.audit.refereeability import refereeability
from suiteopt.console import run_script
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import judged_problems, load_protocol

PUBLISHED = {
    "zeros_pass": {"problems": 4, "of": 60, "source": "KernelBench issue 165"},
    "not_refereeable": {"problems": 2, "of": 188},
}


def find(matrix: Matrix) -> Finding:
    protocol = load_protocol("kernelbench")
    found = refereeability(matrix, protocol)
    without = judged_problems(matrix, protocol).left_out
    count = len(found)
    zeros = {
        f"{t:g}": [
            row.problem
            for row in found
            if any(r.subject == "zeros" and r.holds(t) for r in row.reasons)
        ]
        for t in TOLERANCES
    }
    refused = {
        f"{t:g}": [row.problem for row in found if not row.refereeable(t)] for t in TOLERANCES
    }
    summary = [
        (
            f"{t:g}",
            f"{len(zeros[f'{t:g}'])} of {count}",
            f"{count - len(refused[f'{t:g}'])} of {count}",
            ", ".join(refused[f"{t:g}"]) or "-",
        )
        for t in TOLERANCES
    ]
    reasons = [
        (row.problem, reason.detail, reason.fix)
        for row in found
        for reason in row.reasons
        if reason.defect != Defect.CONTROL_REJECTED
    ]
    return Finding(
        title="Problems that the own inputs can referee",
        published=PUBLISHED,
        ours={
            "problems": [row.as_dict(TOLERANCES) for row in found],
            "zeros_pass": zeros,
            "not_refereeable": refused,
        },
        tables=[
            table(("tolerance", "zeros pass", "refereeable", "not"), summary),
            table(("problem", "why not", "fix"), reasons),
        ],
        words=[
            "Published: zeros pass on 4 of 60 level-1 problems, and two of 188 cannot be "
            "refereed. Ours adds the other implementations that do no work, and correct kernels "
            "that are rejected, to what makes a problem unfit.",
            *_shortened(matrix),
            *(f"Left out {problem}: {reason}." for problem, reason in without.items()),
            scope(matrix),
        ],
    )


def _shortened(matrix: Matrix) -> list[str]:
    """Warn of softmax problems whose outputs, 1/n on average, are smaller at full length."""
    inputs = matrix.inputs
    short = set(inputs.loc[inputs["reduction_ratio"] < 1, "problem"].astype(str))
    problems = matrix.problems
    softmax = problems.loc[problems["operation_class"] == "softmax", "problem"].astype(str)
    affected = [name for name in softmax if name in short]
    if not affected:
        return []
    return [
        f"{', '.join(affected)} shortened: outputs of a softmax are 1/n on average, so at full "
        "length zeros pass from a smaller tolerance on than here."
    ]


def main() -> None:
    report("refereeability", find)


if __name__ == "__main__":
    run_script(main)
