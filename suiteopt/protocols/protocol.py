"""A protocol: an oracle with its inputs, as a benchmark's own check runs them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suiteopt.errors import UserError
from suiteopt.matrix.oracle import Nonfinite, Oracle
from suiteopt.matrix.schema import OWN_STATISTICS, Statistic
from suiteopt.matrix.tables import ratio_comparator

_KEYS = frozenset(
    {"name", "title", "source", "comparator", "nonfinite", "rtol_over_atol", "tolerance", "inputs"}
)
_INPUT_KEYS = frozenset({"values", "parameters", "shape", "count"})


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
    count : int
        How many; the first ones, in the order of the matrix.
    """

    values: str
    parameters: str
    shape: str
    count: int

    def __str__(self) -> str:
        return f"{self.count} x {self.values} with {self.parameters} parameters"


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


def protocol_from(data: Mapping[str, Any], where: str) -> Protocol:
    """Return the protocol that a parsed TOML file describes.

    Parameters
    ----------
    data : mapping
        Keys ``name``, ``title``, ``source``, ``comparator`` (a `Statistic` against the own
        reference), ``nonfinite``, ``rtol_over_atol`` (1 unless given), ``tolerance`` (a number,
        or a table of dtype to number: the atol) and ``inputs`` (an array of tables with
        ``values``, ``parameters``, ``shape`` and ``count``).
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
    missing = sorted({"name", "comparator", "tolerance", "inputs"} - set(data))
    if missing:
        raise refuse(f"it lacks the key {missing[0]!r}")
    name = data["name"]
    if not isinstance(name, str) or not name or ":" in name:
        raise refuse("its name is no word without a colon")
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
    numbers = list(by_dtype.values()) if isinstance(tolerance, Mapping) else [tolerance]
    if not numbers or not all(_is_number(number) for number in numbers):
        raise refuse("its tolerance is neither a number of zero or more nor a table of such")
    oracle = Oracle(
        name=name,
        comparator=comparator,
        tolerance=None if by_dtype else float(tolerance),
        by_dtype={str(dtype): float(number) for dtype, number in by_dtype.items()},
        nonfinite=Nonfinite(nonfinite),
    )
    rules = data["inputs"]
    if not isinstance(rules, list) or not rules:
        raise refuse("its inputs are no array of tables")
    for rule in rules:
        if not isinstance(rule, Mapping) or set(rule) - _INPUT_KEYS or "values" not in rule:
            raise refuse(f"an input has keys other than {', '.join(sorted(_INPUT_KEYS))}")
        count = rule.get("count", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise refuse("the count of an input is no whole number of one or more")
    return Protocol(
        name=name,
        title=str(data.get("title", name)),
        source=str(data.get("source", where)),
        oracle=oracle,
        inputs=tuple(
            InputRule(
                values=str(rule["values"]),
                parameters=str(rule.get("parameters", "benchmark")),
                shape=str(rule.get("shape", "contract")),
                count=rule.get("count", 1),
            )
            for rule in rules
        ),
    )


def _word(value: Any, known: list[str]) -> str | None:
    return str(value) if isinstance(value, str) and value in known else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e300
