"""The suite's JSON form, version 1: written, and read from text and files.

The document is described by the JSON schema ``suiteopt/data/suite.schema.json``. A minor version
only adds keys, which an older reader ignores; another major version is refused. A suite says the
lowest minor version that has all its keys: 1 where a member has a ``reduction_ratio``, else 0.
"""

import json
import math
from pathlib import Path
from typing import Any

from suiteopt.errors import UserError
from suiteopt.matrix.jsonable import dumps
from suiteopt.suite import FULL_REDUCTION, Member, ProblemSuite, Suite
from suiteopt.suite_reader import FORMAT_MAJOR, FORMAT_NAME, SuiteReader

FORMAT_MINOR = 1
SCHEMA_FILE = "suite.schema.json"


def dump(suite: Suite) -> str:
    """Return the canonical text of a suite."""
    return dumps(_document(suite), indent=2) + "\n"


def load(text: str | bytes, source: str = "the suite") -> Suite:
    """Read a suite from JSON text; see `Suite.from_json`."""
    try:
        document = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
        json.dumps(document, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(
            f"{source} is not a suite: it is no JSON text ({error}); "
            "give a file that 'suiteopt select -o' wrote"
        ) from error
    return SuiteReader(source).suite(document)


def read(path: Path) -> Suite:
    """Read a suite file; see `Suite.open`."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise UserError(
            f"there is no suite file {path}; write one with 'suiteopt select -o {path}'"
        ) from error
    except OSError as error:
        raise UserError(
            f"the suite file {path} cannot be read: {error.strerror}; give a file that "
            "'suiteopt select -o' wrote"
        ) from error
    return load(data, str(path))


def schema() -> dict[str, Any]:
    """Return the JSON schema document of the suite format."""
    from importlib.resources import files

    document: dict[str, Any] = json.loads((files("suiteopt") / "data" / SCHEMA_FILE).read_bytes())
    return document


def _document(suite: Suite) -> dict[str, Any]:
    major, minor = suite.matrix_format
    ratios = (member.reduction_ratio for part in suite.problems for member in part.members)
    own_minor = FORMAT_MINOR if any(ratio != FULL_REDUCTION for ratio in ratios) else 0
    return {
        "format": {"name": FORMAT_NAME, "major": FORMAT_MAJOR, "minor": own_minor},
        "matrix": {
            "id": suite.matrix_id,
            "device": suite.matrix_device,
            "format": {"major": major, "minor": minor},
        },
        "oracle": suite.oracle,
        "target": suite.target,
        "budget": suite.budget,
        "command": suite.command,
        "problems": [_problem_document(problem) for problem in suite.problems],
    }


def _problem_document(problem: ProblemSuite) -> dict[str, Any]:
    return {
        "problem": problem.problem,
        "benchmark": problem.benchmark,
        "level": problem.level,
        "name": problem.name,
        "dtype": problem.dtype,
        "mutants": problem.mutants,
        "detected": problem.detected,
        "members": [_member_document(member) for member in problem.members],
    }


def _member_document(member: Member) -> dict[str, Any]:
    if math.isnan(member.tolerance) or member.tolerance < 0:
        raise ValueError(f"the tolerance of {member.input} is {member.tolerance}")
    ratio = member.reduction_ratio
    if not 0.0 < ratio < math.inf:
        raise ValueError(f"the reduction ratio of {member.input} is {ratio}")
    shortened = {} if ratio == FULL_REDUCTION else {"reduction_ratio": ratio}
    return {
        "input": member.input,
        "values": member.values,
        "parameters": member.parameters,
        "shape": member.shape,
        "shape_recipe": member.shape_recipe,
        "seed": member.seed,
        "tolerance": member.tolerance,
        "comparator": member.comparator,
        "needs": sorted(member.needs),
        **shortened,
    }


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
