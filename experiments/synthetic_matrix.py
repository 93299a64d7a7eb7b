"""A kill matrix of any size, drawn at random but structured as measured ones are.

Mutants differ in how hard they are to see and inputs in how much they show; a quarter of the
mutants repeats others, as behavioural duplicates do; expressions carry several edits; controls
stay within a few roundings. Everything is written through the writer, so that a benchmark on it
pays for reading as it does on a measured matrix.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from suiteopt.matrix.schema import COUNTS, STATISTICS, Family
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import floor_column
from suiteopt.matrix.writer import MatrixWriter

CONTROLS = ("serial", "reversed", "pairwise", "chunked", "tile", "fma_off", "split_k", "blind")
OWN_DRAWS = 5
RULES = 60


def write_synthetic(
    path: Path, problems: int, mutants: int = 70, inputs: int = 64, seed: int = 0
) -> Matrix:
    """Write a matrix of ``problems`` x (``mutants`` + controls) x (``inputs`` + own draws)."""
    random = np.random.default_rng(seed)
    names = [f"level1/{number:03}" for number in range(1, problems + 1)]
    recipes = [f"recipe-{number:02}" for number in range(inputs - 1)]
    columns = ["own-0", *recipes, *(f"own-{draw}" for draw in range(1, OWN_DRAWS))]
    strength = random.lognormal(0.0, 1.0, len(columns))
    writer = MatrixWriter(path, header_of())
    writer.write_problems(problems_of(names))
    implementations, every_input, cells = [], [], {}
    for problem in names:
        ids = [f"{problem}:{column}" for column in columns]
        every_input.append(inputs_of(problem, ids, columns))
        safe = 10.0 ** random.uniform(-7.0, -4.0, len(columns))
        rules = random.integers(0, RULES, mutants)
        about = implementations_of(problem, rules)
        implementations.append(about)
        visible = random.beta(0.6, 0.4, mutants)[:, None] ** (1 / strength[None, :])
        shown = random.random((mutants, len(columns))) < visible
        copied = random.integers(0, mutants, mutants // 4)
        errors = safe * 10.0 ** np.where(
            shown, random.uniform(1.0, 6.0, shown.shape), random.uniform(-3.0, 1.0, shown.shape)
        )
        errors[: len(copied)] = errors[copied]
        rounding = safe * random.uniform(0.2, 1.0, (len(CONTROLS), len(columns)))
        cells[problem] = cells_of(
            np.repeat(about["implementation"], len(columns)),
            np.tile(ids, len(about)),
            np.vstack([errors, rounding]).ravel(),
        )
    writer.write_implementations(pd.concat(implementations, ignore_index=True))
    writer.write_inputs(pd.concat(every_input, ignore_index=True))
    for problem, frame in cells.items():
        writer.write_cells(problem, frame)
    writer.finish(True)
    return Matrix.open(path)


def problems_of(names: list[str]) -> pd.DataFrame:
    """Rows of ``problems.parquet``."""
    return pd.DataFrame(
        {
            "problem": names,
            "level": 1,
            "name": names,
            "operation_class": [f"class-{number % 8}" for number in range(len(names))],
        }
    )


def implementations_of(problem: str, rules: np.ndarray) -> pd.DataFrame:
    """Rows of ``implementations.parquet``: a mutant for each rule, and the controls."""
    families = [str(family) for family in Family]
    mutants = len(rules)
    rows = pd.DataFrame(
        {
            "implementation": [f"{problem}:m{row}" for row in range(mutants)],
            "problem": problem,
            "substrate": [f"{problem}:s{row % 2}" for row in range(mutants)],
            "kind": "mutant",
            "rules": [[f"rule-{rule}"] for rule in rules],
            "family": [families[rule % len(families)] for rule in rules],
            "sites": [[_site(row // 3)] for row in range(mutants)],
            "witness": "profile",
            "witness_how": "error",
        }
    )
    controls = pd.DataFrame(
        {
            "implementation": [f"{problem}:control:{kind}" for kind in CONTROLS],
            "problem": problem,
            "kind": "control",
            "control_kind": CONTROLS,
            "blind": [kind == "blind" for kind in CONTROLS],
        }
    )
    return pd.concat([rows, controls], ignore_index=True)


def header_of() -> dict[str, object]:
    """Header of a matrix that nobody measured."""
    return {
        "tool": "experiments/synthetic_matrix.py",
        "version": "1",
        "profile": "synthetic",
        "label": "synthetic",
        "device": {"name": "host", "model": "none"},
        "command": "write_synthetic",
        "started": "",
        "ended": "",
        "seconds": 0.0,
        "corpus_hash": "",
        "pool_hash": "",
        "witness_hash": "",
        "policy": {"tf32": False, "fast_math": False},
        "ratios": [],
        "ledger": [],
    }


def inputs_of(problem: str, ids: list[str], columns: list[str]) -> pd.DataFrame:
    """Rows of ``inputs.parquet``: the first own draw among the candidates, the others apart."""
    return pd.DataFrame(
        {
            "input": ids,
            "problem": problem,
            "role": ["own" if name in _LATER_DRAWS else "candidate" for name in columns],
            "value_recipe": columns,
            "parameter_recipe": "benchmark",
            "scope": "profile",
            "bytes": [1024 * (place + 1) for place in range(len(columns))],
            "seconds": [0.001 * (place + 1) for place in range(len(columns))],
            **{floor_column(str(statistic)): 1e-9 for statistic in STATISTICS[:7]},
        }
    )


_LATER_DRAWS = frozenset(f"own-{draw}" for draw in range(1, OWN_DRAWS))


def cells_of(
    implementations: Sequence[str], inputs: Sequence[str], errors: np.ndarray
) -> pd.DataFrame:
    """Cells whose every statistic is the same error."""
    frame = pd.DataFrame({"implementation": implementations, "input": inputs, "status": "ok"})
    return frame.assign(
        **{str(count): 0 for count in COUNTS},
        **{str(statistic): errors for statistic in STATISTICS},
    )


def _site(number: int) -> dict[str, object]:
    return {
        "file": "kernel.cu",
        "start": 10 * number,
        "end": 10 * number + 1,
        "line": number + 1,
        "column": 1,
        "end_line": number + 1,
        "end_column": 2,
    }
