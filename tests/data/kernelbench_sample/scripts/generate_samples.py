"""Prints the prompt of a problem."""

import sys

from kernelbench.dataset import construct_kernelbench_dataset


def prompt_constructor(problem):
    return f"Write a faster ModelNew for this:\n\n{problem.code}"


if __name__ == "__main__":
    problem = construct_kernelbench_dataset(1).get_problem_by_id(int(sys.argv[1]))
    sys.stdout.write(prompt_constructor(problem))
