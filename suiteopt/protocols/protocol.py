"""A protocol: an oracle with its inputs, as a benchmark's own check runs them."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from suiteopt.errors import UserError
from suiteopt.matrix.oracle import CALIBRATED_SAFETY, Nonfinite, Oracle
from suiteopt.matrix.schema import EXCEPTION_STATUSES, OWN_STATISTICS, Statistic, Status
from suiteopt.matrix.tables import ratio_comparator

_KEYS = frozenset({"name", "title", "source", "comparator", "nonfinite", "rtol_over_atol"}) | {
    "tolerance",
    "sees",
    "trials",
    "inputs",
}
_INPUT_KEYS = frozenset({"values", "parameters", "shape", "count"})
_VISIBLE = (Status.UNWRITTEN, Status.OUT_OF_BOUNDS)
OWN_DRAWS = "own-[0-9]"
"""Value recipes of the benchmark's own draws, as a pattern."""
EVERY = "all"
MOST_NAME, MOST_TITLE = 60, 300
"""Letters of a name, which heads columns, and of a title or source, which fill a line or two."""


@dataclass(frozen=True)
class InputRule:
    """Which inputs of a matrix a protocol runs.

    Attributes
    ----------
    values : str
        Short name of the value recipe, as ``inputs.parquet`` has it; ``*``, ``?`` and ``[0-9]``
        stand for any text, one letter, one digit.
    parameters, shape : str
        Short names of parameter and shape recipe.
    count : int or None
        How many; the first ones, in the order of the matrix. None: all that the matrix has,
        which may be none.
    """

    values: str
    parameters: str
    shape: str
    count: int | None

    def __str__(self) -> str:
        how_many = EVERY if self.count is None else str(self.count)
        shape = "" if self.shape == "contract" else f" at shape {self.shape}"
        return f"{how_many} x {self.values} with {self.parameters} parameters{shape}"


@dataclass(frozen=True)
class Protocol:
    """What a benchmark's own check does.

    Attributes
    ----------
    name, title, source : str
        Short name, a line for tables, where the facts were read.
    oracle : Oracle
    inputs : tuple of InputRule
    """

    name: str
    title: str
    source: str
    oracle: Oracle
    inputs: tuple[InputRule, ...]


def judges_alike(first: Protocol, second: Protocol, dtypes: Iterable[str]) -> bool:
    """Tell whether two protocols' oracles give the same verdicts on some dtypes.

    Raises
    ------
    UserError
        If one of them has no tolerance for a dtype.
    """
    one, other = (
        replace(p.oracle, name="", tolerance=0.0, by_dtype={}, safety=None) for p in (first, second)
    )
    if one != other or first.oracle.safety != second.oracle.safety:
        return False
    return first.oracle.calibrated or all(
        first.oracle.fixed_tolerance(dtype) == second.oracle.fixed_tolerance(dtype)
        for dtype in dtypes
    )


def protocol_from(data: Mapping[str, Any], where: str) -> Protocol:
    """Return the protocol that a parsed TOML file describes.

    Parameters
    ----------
    data : mapping
        Keys ``name``, ``title``, ``source``, ``comparator`` (a `Statistic` against the own
        reference), ``nonfinite``, ``rtol_over_atol`` (1 unless given), ``tolerance`` (the atol:
        a number, a table of dtype to number, or ``"calibrated"``, ``"calibrated:<safety>"``),
        ``sees`` (statuses that the harness detects by itself), ``trials`` (how many of the
        benchmark's own draws) and ``inputs`` (an array of tables with ``values``,
        ``parameters``, ``shape`` and ``count``, a number or ``"all"``). One of the last two is
        needed. White space in ``title`` and ``source`` is folded.
    where : str
        What to call the file in an error.

    Raises
    ------
    UserError
        On a key that is missing, unknown or of the wrong form.
    """

    def refuse(problem: str) -> UserError:
        return UserError(f"{where} is no protocol: {problem}; see docs/matrix-format.md")

    unknown = sorted(set(data) - _KEYS)
    if unknown:
        raise refuse(f"it has the unknown key {unknown[0]!r}")
    needed = {"name", "comparator", "tolerance", *([] if "trials" in data else ["inputs"])}
    missing = sorted(needed - set(data))
    if missing:
        raise refuse(f"it lacks the key {missing[0]!r}")
    name = data["name"]
    if not isinstance(name, str) or not name.strip() or not _is_line(name, MOST_NAME):
        raise refuse(f"its name is no text of one line with at most {MOST_NAME} letters")
    if ":" in name:
        raise refuse("its name has a colon, which sets a tolerance apart")
    words = {key: data.get(key, default) for key, default in (("title", name), ("source", where))}
    for key, text in words.items():
        # Line breaks of a long string are laid out anew; other control characters would act.
        words[key] = " ".join(text.split()) if isinstance(text, str) else ""
        if not words[key] or not _is_line(words[key], MOST_TITLE):
            raise refuse(f"its {key} is no text of at most {MOST_TITLE} printable letters")
    comparator = _word(data["comparator"], [str(s) for s in OWN_STATISTICS])
    if comparator is None:
        raise refuse(f"its comparator is none of {', '.join(OWN_STATISTICS)}")
    nonfinite = _word(data.get("nonfinite", Nonfinite.TORCH), [str(n) for n in Nonfinite])
    if nonfinite is None:
        raise refuse(f"its nonfinite policy is none of {', '.join(Nonfinite)}")
    ratio = data.get("rtol_over_atol", 1.0)
    if not _is_number(ratio):
        raise refuse("its rtol_over_atol is no number of zero or more")
    if ratio != 1:
        if comparator not in (Statistic.ALLCLOSE_CANDIDATE, Statistic.ALLCLOSE_REFERENCE):
            raise refuse("only the two allclose comparators have an rtol_over_atol")
        comparator = ratio_comparator(Statistic(comparator), float(ratio))
    tolerance = data["tolerance"]
    by_dtype = tolerance if isinstance(tolerance, Mapping) else {}
    safety = _safety(tolerance)
    numbers = list(by_dtype.values()) if isinstance(tolerance, Mapping) else [tolerance]
    if safety is None and not (numbers and all(_is_number(number) for number in numbers)):
        raise refuse(
            "its tolerance is neither a number of zero or more nor a table of such, "
            'nor "calibrated" with a safety of 1 or more'
        )
    sees = data.get("sees", [])
    if not isinstance(sees, list) or any(_word(s, list(_VISIBLE)) is None for s in sees):
        raise refuse(f"what it sees is no list of {' and '.join(_VISIBLE)}")
    oracle = Oracle(
        name=name,
        comparator=comparator,
        tolerance=None if by_dtype or safety is not None else float(tolerance),
        by_dtype={str(dtype): float(number) for dtype, number in by_dtype.items()},
        safety=safety,
        nonfinite=Nonfinite(nonfinite),
        fatal=EXCEPTION_STATUSES | {Status(status) for status in sees},
    )
    rules = data.get("inputs", [])
    if not isinstance(rules, list) or not (rules or "trials" in data):
        raise refuse("its inputs are no array of tables")
    inputs = [_input_rule(rule, refuse) for rule in rules]
    if "trials" in data:
        if not _is_count(data["trials"]):
            raise refuse("its trials are no whole number of one or more")
        inputs = [InputRule(OWN_DRAWS, "benchmark", "contract", data["trials"]), *inputs]
    return Protocol(
        name=name,
        title=words["title"],
        source=words["source"],
        oracle=oracle,
        inputs=tuple(inputs),
    )


def _input_rule(rule: Any, refuse: Callable[[str], UserError]) -> InputRule:
    if not isinstance(rule, Mapping) or set(rule) - _INPUT_KEYS or "values" not in rule:
        raise refuse(f"an input has keys other than {', '.join(sorted(_INPUT_KEYS))}")
    names = [rule.get(key, "") for key in ("values", "parameters", "shape")]
    if not all(isinstance(name, str) for name in names):
        raise refuse("the values, parameters and shape of an input are names of recipes")
    count = rule.get("count", 1)
    if count != EVERY and not _is_count(count):
        raise refuse('the count of an input is no whole number of one or more, nor "all"')
    return InputRule(
        values=rule["values"],
        parameters=rule.get("parameters", "benchmark"),
        shape=rule.get("shape", "contract"),
        count=None if count == EVERY else count,
    )


def _safety(tolerance: Any) -> float | None:
    """Return the safety of a tolerance calibrated on the matrix's controls, if it is one."""
    if not isinstance(tolerance, str):
        return None
    head, colon, tail = tolerance.partition(":")
    if head != "calibrated":
        return None
    try:
        safety = float(tail) if colon else CALIBRATED_SAFETY
    except ValueError:
        return None
    return safety if 1 <= safety < math.inf else None


def _is_line(text: str, most: int) -> bool:
    return text.isprintable() and len(text) <= most


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _word(value: Any, known: list[str]) -> str | None:
    return str(value) if isinstance(value, str) and value in known else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e300
