"""A rule that names one file is a defect: none knows the corpus, by name or by literal."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from gpu_eval.mutation import rules as package
from gpu_eval.mutation.catalogue import RULES
from gpu_eval.mutation.contexts import build_contexts
from gpu_eval.mutation.parser import parse_all
from gpu_eval.mutation.rule import Rule
from gpu_eval.mutation.sites import Edit, SourceContext
from gpu_eval.problems.loader import sources
from suiteopt.matrix.schema import Family
from tests.gpu_eval.mutation.corpus import ALL_PAIRS, CORPUS, PAIRS
from tests.gpu_eval.mutation.renaming import renamed

MUTATION = Path(package.__file__).parents[1]
MODULES = sorted({*MUTATION.rglob("*.py")} - {MUTATION / "published.py"})
"""What rules are made of; the table of published names makes no edit."""

SOURCE_RULES = [one for one in RULES if isinstance(one, Rule)]
TEXTS = {
    (p.directory if (p.directory / name).is_file() else Path("include")) / name: text
    for p, s in PAIRS
    for name, text in sources(p, s).items()
}
NUMBER = re.compile(r"(?<![\w.])\d*\.\d+(?:e[-+]?\d+)?|(?<![\w.])\d+e[-+]?\d+", re.IGNORECASE)


def literals(text: str) -> Iterator[str]:
    """Yield the literals of a module, documentation left out."""
    tree = ast.parse(text)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose:
            if isinstance(node.value, str):
                yield node.value
            elif isinstance(node.value, int | float) and not isinstance(node.value, bool):
                yield repr(node.value)


@cache
def corpus_names() -> set[str]:
    """Return what the corpus calls problems, directories and files."""
    found = set()
    for problem in CORPUS.problems.values():
        found |= {problem.id, problem.name, problem.directory.name}
    return found | {path.name for path in TEXTS}


def named(text: str) -> set[str]:
    """Return the names of the corpus that a module's literals hold."""
    names = corpus_names()
    return {name for held in literals(text) for name in names if name in held}


def numbers(text: str) -> set[float]:
    """Return the fractions of a text with more than two digits that are not zero at an end."""
    values = {float(found) for found in NUMBER.findall(text)}
    return {value for value in values if len(f"{value:e}".split("e")[0].strip("0.")) > 2}


@cache
def files_with() -> Counter[float]:
    """Count the files of the corpus that hold each number."""
    return Counter(value for text in TEXTS.values() for value in numbers(text))


def private_numbers(text: str) -> set[float]:
    """Return the numbers of a module's literals that stand in exactly one file of the corpus."""
    mine = {value for held in literals(text) for value in numbers(held)}
    return {value for value in mine if files_with()[value] == 1}


def sites(rules: Sequence[Rule], files: Mapping[str, str]) -> Counter[tuple[str, int, int]]:
    """Count the edits of rules by rule, number of the file, and line."""
    found: Counter[tuple[str, int, int]] = Counter()
    for number, source in enumerate(build_contexts(parse_all(files)).values()):
        for rule in rules:
            for edit in set(rule.sites(source)):
                found[rule.name, number, source.file.data.count(b"\n", 0, edit.start)] += 1
    return found


class OfOneFile(Rule):
    """Knows a variable of one kernel."""

    name = "of-one-file"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        """Yield an edit of each mention."""
        for node in source.nodes("identifier"):
            if source.text(node) == "lost":
                yield source.edit(node, "0.0f")


def test_no_rule_holds_a_name_of_the_corpus() -> None:
    assert len(MODULES) > 30
    assert len(corpus_names()) > 400
    assert {module.name: named(module.read_text()) for module in MODULES} == {
        module.name: set() for module in MODULES
    }


def test_no_rule_looks_for_a_number_of_one_file() -> None:
    assert {module.name: private_numbers(module.read_text()) for module in MODULES} == {
        module.name: set() for module in MODULES
    }


def test_such_literals_would_be_found() -> None:
    assert named('if source.file.name == "compensated.cu": pass') == {"compensated.cu"}
    assert named('"""In no file."""\nX = "level1/048"') == {"level1/048"}
    assert named('"""Not in level1/048."""') == set()
    rare = next(value for value, count in files_with().items() if count == 1)
    assert private_numbers(f"if value == {rare!r}: pass") == {rare}
    assert private_numbers(f"yield '{rare!r}f'") == {rare}


def test_no_rule_goes_by_the_names_of_files_variables_and_functions() -> None:
    seen = Counter[str]()
    # All of level 1 and a third of level 2, whose kernels share most of their parts.
    some = [pair for n, pair in enumerate(ALL_PAIRS) if pair[0].level != 2 or n % 3 == 0]
    for problem, substrate in some:
        files = sources(problem, substrate)
        found = sites(SOURCE_RULES, files)
        assert sites(SOURCE_RULES, renamed(files)) == found, (problem.id, substrate.name)
        seen.update(rule for rule, _, _ in found)
    assert set(seen) == {one.name for one in SOURCE_RULES}


def test_a_rule_that_goes_by_a_name_would_be_found() -> None:
    problem = CORPUS.problem("level1/048")
    substrate = next(s for s in problem.substrates if s.source == "compensated.cu")
    files = sources(problem, substrate)
    assert "float lost" in files["compensated.cu"]
    assert sites([OfOneFile()], files).total() > 0
    assert sites([OfOneFile()], renamed(files)).total() == 0
