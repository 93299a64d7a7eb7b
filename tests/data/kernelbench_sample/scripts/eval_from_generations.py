"""Evaluates a candidate: SOURCE PROBLEM FILE."""

import sys

from kernelbench.dataset import construct_kernelbench_dataset
from kernelbench.eval import eval_kernel_against_ref

if __name__ == "__main__":
    source, number, candidate = sys.argv[1:4]
    problem = construct_kernelbench_dataset(1, source).get_problem_by_id(int(number))
    with open(candidate) as handle:
        result = eval_kernel_against_ref(problem.code, handle.read(), num_correct_trials=5)
    print("correct" if result.correctness else "wrong", result.metadata)
