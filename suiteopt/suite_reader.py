"""Suites read from JSON documents, with every field checked."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from suiteopt.errors import UserError
from suiteopt.matrix.schema import Need, Statistic
from suiteopt.suite import FULL_REDUCTION, Member, ProblemSuite, Suite

FORMAT_NAME = "suiteopt-suite"
FORMAT_MAJOR = 1

_RATIO = re.compile(r"(allclose_candidate|allclose_reference)@[0-9][0-9.e+-]*")

Recipes = dict[str, dict[str, Any]]
T = TypeVar("T")


class SuiteReader:
    """Reads fields with their types checked; an error names the file and the field.

    Parameters
    ----------
    source : str
        What is read, for errors.
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def wrong(self, where: str, what: str) -> UserError:
        """Return the error of a field: where it stands, and what is wrong."""
        return UserError(
            f"{self.source} is not a valid suite: {where} {what}; "
            "give a file that 'suiteopt select -o' wrote"
        )

    def get(self, parent: Any, key: str, kind: type[T], where: str) -> T:
        """Return a field of some type."""
        if not isinstance(parent, dict):
            raise self.wrong(where or "the document", "is not an object")
        path = f"{where}.{key}" if where else key
        if key not in parent:
            raise self.wrong(path, "is missing")
        value = parent[key]
        # bool is a subclass of int, and true is no number
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.wrong(path, f"is not of type {kind.__name__}")
        return value

    def count(self, parent: Any, key: str, where: str) -> int:
        """Return a whole number that is not negative."""
        value = self.get(parent, key, int, where)
        if value < 0:
            raise self.wrong(f"{where}.{key}" if where else key, "is negative")
        return value

    def name(self, parent: Any, key: str, where: str) -> str:
        """Return a name: on one line, and nothing that a terminal would obey."""
        return self.plain(self.get(parent, key, str, where), f"{where}.{key}")

    def plain(self, text: str, where: str) -> str:
        """Return a text that holds no control character."""
        if any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in text):
            raise self.wrong(where, "holds a control character")
        return text

    def items(self, parent: Any, key: str, where: str) -> Iterator[tuple[str, Any]]:
        """Yield the items of a list, each with its path."""
        path = f"{where}.{key}" if where else key
        for index, item in enumerate(self.get(parent, key, list, where)):
            yield f"{path}[{index}]", item

    def strings(self, parent: Any, key: str, where: str) -> tuple[str, ...]:
        """Return a list of texts."""
        found = []
        for path, item in self.items(parent, key, where):
            if not isinstance(item, str):
                raise self.wrong(path, "is not of type str")
            found.append(item)
        return tuple(found)

    def suite(self, document: Any) -> Suite:
        """Return the suite that a document describes."""
        version = self.get(document, "format", dict, "")
        if self.get(version, "name", str, "format") != FORMAT_NAME:
            raise self.wrong("format.name", f"is not '{FORMAT_NAME}'")
        major = self.get(version, "major", int, "format")
        if major != FORMAT_MAJOR:
            raise UserError(
                f"{self.source} has suite format {major}, and this version of suiteopt reads "
                f"format {FORMAT_MAJOR}; use the version that wrote it, or select again"
            )
        matrix = self.get(document, "matrix", dict, "")
        matrix_format = self.get(matrix, "format", dict, "matrix")
        self.count(version, "minor", "format")
        if "target" not in document:
            raise self.wrong("target", "is missing")
        target = document["target"]
        if target is not None and not isinstance(target, str):
            raise self.wrong("target", "is neither null nor of type str")
        return Suite(
            matrix_id=self.get(matrix, "id", str, "matrix"),
            matrix_device=self.get(matrix, "device", str, "matrix"),
            matrix_format=(
                self.count(matrix_format, "major", "matrix.format"),
                self.count(matrix_format, "minor", "matrix.format"),
            ),
            oracle=self.get(document, "oracle", str, ""),
            target=target,
            budget=self.count(document, "budget", ""),
            command=self.get(document, "command", str, ""),
            problems=self.problems(document),
        )

    def problems(self, document: Any) -> tuple[ProblemSuite, ...]:
        """Return the problems, each of which stands there once."""
        problems = tuple(
            self.problem(item, path) for path, item in self.items(document, "problems", "")
        )
        names = [problem.problem for problem in problems]
        for name in names:
            if names.count(name) > 1:
                raise self.wrong("problems", f"holds {name} twice")
        return problems

    def problem(self, item: Any, where: str) -> ProblemSuite:
        """Return a problem, whose members name the same tensors."""
        members = tuple(
            self.member(member, path) for path, member in self.items(item, "members", where)
        )
        for index, member in enumerate(members):
            if set(member.values) != set(members[0].values):
                raise self.wrong(f"{where}.members[{index}].values", "names other tensors")
        return ProblemSuite(
            problem=self.name(item, "problem", where),
            benchmark=self.name(item, "benchmark", where),
            level=self.count(item, "level", where),
            name=self.name(item, "name", where),
            dtype=self.name(item, "dtype", where),
            mutants=self.count(item, "mutants", where),
            detected=self.count(item, "detected", where),
            members=members,
        )

    def member(self, item: Any, where: str) -> Member:
        """Return a member."""
        comparator = self.get(item, "comparator", str, where)
        if comparator not in set(Statistic) and not _is_ratio(comparator):
            raise self.wrong(f"{where}.comparator", f"'{comparator}' is unknown")
        needs = self.strings(item, "needs", where)
        for need in needs:
            if need not in set(Need):
                raise self.wrong(f"{where}.needs", f"holds '{need}', which is unknown")
        shape = self.get(item, "shape", dict, where)
        for name in shape:
            self.count(shape, name, f"{where}.shape")
        return Member(
            input=self.name(item, "input", where),
            values=self.recipes(item, "values", where),
            parameters=self.recipes(item, "parameters", where),
            shape=shape,
            shape_recipe=self.name(item, "shape_recipe", where),
            seed=self.get(item, "seed", int, where),
            tolerance=self.tolerance(item, where),
            comparator=comparator,
            needs=needs,
            reduction_ratio=self.ratio(item, where),
        )

    def recipes(self, item: Any, key: str, where: str) -> Recipes:
        """Return recipes by tensor; what they ask for is not checked here."""
        found: Mapping[str, Any] = self.get(item, key, dict, where)
        for tensor, recipe in found.items():
            path = f"{where}.{key}.{self.plain(tensor, f'a key of {where}.{key}')}"
            self.get(recipe, "name", str, path)
            self.get(recipe, "version", int, path)
            self.get(recipe, "arguments", dict, path)
        return dict(found)

    def ratio(self, item: Any, where: str) -> float:
        """Return how much of the reduction is left: 1 where nothing is said."""
        value = item.get("reduction_ratio", FULL_REDUCTION)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        try:
            ratio = float(value) if number else 0.0
        except OverflowError:
            ratio = math.inf
        if not 0.0 < ratio < math.inf:
            raise self.wrong(f"{where}.reduction_ratio", "is no number above 0")
        return ratio

    def tolerance(self, item: Any, where: str) -> float:
        """Return a tolerance: infinite where it is null."""
        if "tolerance" not in item:
            raise self.wrong(f"{where}.tolerance", "is missing")
        value = item["tolerance"]
        if value is None:
            return math.inf
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise self.wrong(f"{where}.tolerance", "is neither null nor a number from 0 on")
        try:
            return float(value)
        except OverflowError:
            raise self.wrong(f"{where}.tolerance", "is too large for a number") from None


def _is_ratio(comparator: str) -> bool:
    """Whether a comparator is one of torch's with another ratio of its terms, as ``...@0.1``."""
    if not _RATIO.fullmatch(comparator):
        return False
    try:
        return 0.0 < float(comparator.partition("@")[2]) < math.inf
    except ValueError:
        return False
