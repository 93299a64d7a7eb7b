"""Reads tests and runs a submission on them."""

import re
from pathlib import Path

from reference import check_implementation, generate_input


class TestCase:
    def __init__(self, args, spec):
        self.args, self.spec = args, spec


def get_test_cases(file_name, seed):
    cases = []
    match = r"\s*([a-zA-Z]+):\s*([a-zA-Z]+|[+-]?[0-9]+)\s*"
    for line in Path(file_name).read_text().splitlines():
        case = {}
        for part in line.split(";"):
            matched = re.fullmatch(match, part)
            if matched is None:
                raise SystemExit(113)
            value = matched[2]
            case[matched[1]] = int(value) if value.lstrip("+-").isdigit() else value
        cases.append(TestCase(case, line))
    return cases


def run_testing(custom_kernel, tests):
    for test in tests:
        data = generate_input(**test.args)
        good, message = check_implementation(data, custom_kernel(data))
        if not good:
            return False, f"{test.spec}: {message}"
    return True, ""
