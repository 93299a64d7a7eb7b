import copy
import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.errors import UserError
from suiteopt.matrix.schema import Need, Statistic
from suiteopt.suite import Member, ProblemSuite, Suite
from suiteopt.suite_json import schema

SMALL = Suite(
    matrix_id="00ff",
    matrix_device="cpu",
    oracle="fixed:0.001",
    target=None,
    budget=1,
    command="suiteopt select --budget 1",
    problems=(
        ProblemSuite(
            problem="level1/019",
            benchmark="kernelbench",
            level=1,
            name="19_ReLU",
            dtype="float32",
            members=(
                Member(
                    input="level1/019:lattice",
                    values={"x": {"name": "lattice", "version": 1, "arguments": {"width": 3}}},
                    parameters={},
                    shape={"rows": 4},
                    shape_recipe="contract",
                    seed=2**40 + 1,
                    tolerance=1e-3,
                    comparator="allclose_candidate",
                    needs=("values",),
                ),
            ),
            mutants=9,
            detected=8,
        ),
    ),
)

CANONICAL = """\
{
  "budget": 1,
  "command": "suiteopt select --budget 1",
  "format": {
    "major": 1,
    "minor": 0,
    "name": "suiteopt-suite"
  },
  "matrix": {
    "device": "cpu",
    "format": {
      "major": 1,
      "minor": 0
    },
    "id": "00ff"
  },
  "oracle": "fixed:0.001",
  "problems": [
    {
      "benchmark": "kernelbench",
      "detected": 8,
      "dtype": "float32",
      "level": 1,
      "members": [
        {
          "comparator": "allclose_candidate",
          "input": "level1/019:lattice",
          "needs": [
            "values"
          ],
          "parameters": {},
          "seed": 1099511627777,
          "shape": {
            "rows": 4
          },
          "shape_recipe": "contract",
          "tolerance": 0.001,
          "values": {
            "x": {
              "arguments": {
                "width": 3
              },
              "name": "lattice",
              "version": 1
            }
          }
        }
      ],
      "mutants": 9,
      "name": "19_ReLU",
      "problem": "level1/019"
    }
  ],
  "target": null
}
"""


def with_member(**changes: Any) -> Suite:
    problem = SMALL.problems[0]
    changed = replace(problem, members=(replace(problem.members[0], **changes),))
    return replace(SMALL, problems=(changed,))


def test_canonical_text_and_hash_are_fixed() -> None:
    assert SMALL.to_json() == CANONICAL
    assert SMALL.hash == hashlib.sha256(CANONICAL.encode()).hexdigest()


def test_a_saved_file_has_the_suites_hash_and_reads_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "new" / "suite.json"
    SMALL.save(path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == SMALL.hash
    assert Suite.open(path) == SMALL
    assert [entry.name for entry in path.parent.iterdir()] == ["suite.json"]


def test_order_of_keys_does_not_change_the_text() -> None:
    recipes = {"b": {"name": "n", "version": 1, "arguments": {}}, "a": {"name": "m", "version": 1,
               "arguments": {"y": 1, "x": 2}}}  # fmt: skip
    turned = {key: dict(reversed(recipes[key].items())) for key in reversed(recipes)}
    assert with_member(values=recipes).to_json() == with_member(values=turned).to_json()


@pytest.mark.parametrize("ratio", [0, -0.5, True, "1", None, 10**400])
def test_a_part_of_a_reduction_is_a_number_above_zero(ratio: Any) -> None:
    document = json.loads(with_member(reduction_ratio=0.25).to_json())
    jsonschema.validate(document, schema())
    document["problems"][0]["members"][0]["reduction_ratio"] = ratio
    with pytest.raises(UserError, match="reduction_ratio is no number above 0"):
        Suite.from_json(json.dumps(document))


def test_infinity_is_null_and_comes_back() -> None:
    suite = with_member(tolerance=math.inf)
    assert json.loads(suite.to_json())["problems"][0]["members"][0]["tolerance"] is None
    assert Suite.from_json(suite.to_json()).problems[0].members[0].tolerance == math.inf


@pytest.mark.parametrize("tolerance", [math.nan, -1.0, -math.inf])
def test_a_tolerance_that_is_none_is_not_written(tolerance: float) -> None:
    with pytest.raises(ValueError, match="tolerance"):
        with_member(tolerance=tolerance).to_json()


def test_the_schema_describes_what_is_written() -> None:
    document = schema()
    jsonschema.Draft202012Validator.check_schema(document)
    for suite in (SMALL, with_member(tolerance=math.inf), replace(SMALL, problems=())):
        jsonschema.validate(json.loads(suite.to_json()), document)


@pytest.mark.parametrize("comparator", [*Statistic, "allclose_candidate@0.1"])
def test_schema_and_reader_know_every_comparator(comparator: str) -> None:
    suite = with_member(comparator=str(comparator))
    jsonschema.validate(json.loads(suite.to_json()), schema())
    assert Suite.from_json(suite.to_json()) == suite


def broken_documents() -> list[Any]:
    """Every way to leave a key out, and wrong types, each with the word the error must hold."""
    whole = json.loads(CANONICAL)
    found = []

    def places(node: Any, path: tuple[Any, ...]) -> Any:
        if isinstance(node, dict):
            for key, value in node.items():
                yield (*path, key)
                yield from places(value, (*path, key))
        elif isinstance(node, list):
            for index, value in enumerate(node):
                yield from places(value, (*path, index))

    optional = {("width",), ("rows",), ("x",)}
    for path in places(whole, ()):
        if (path[-1],) in optional:
            continue
        for kind in ("missing", "wrong"):
            document = copy.deepcopy(whole)
            parent = document
            for key in path[:-1]:
                parent = parent[key]
            if kind == "missing":
                del parent[path[-1]]
            else:
                parent[path[-1]] = -3.5 if not isinstance(parent[path[-1]], dict) else "text"
            found.append(
                pytest.param(document, str(path[-1]), id=f"{kind}-{'.'.join(map(str, path))}")
            )
    return found


@pytest.mark.parametrize(("document", "key"), broken_documents())
def test_schema_and_reader_refuse_the_same_documents(document: Any, key: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema())
    with pytest.raises(UserError) as caught:
        Suite.from_json(json.dumps(document), "s.json")
    assert "s.json" in str(caught.value)
    assert key in str(caught.value) or "format" in str(caught.value)


def test_another_major_version_is_refused_and_a_later_minor_is_read() -> None:
    document = json.loads(CANONICAL)
    document["format"]["minor"] = 7
    document["news"] = {"unknown": True}
    assert Suite.from_json(json.dumps(document)) == SMALL
    document["format"]["major"] = 2
    with pytest.raises(UserError, match="suite format 2, and this version of suiteopt reads"):
        Suite.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no JSON"),
        ("[1, 2", "no JSON"),
        (b"\xff\xfe\x00", "no JSON"),
        ("[" * 100000, "no JSON"),
        ("[]", "not an object"),
        ('{"format": 1, "format": 2}', "stands twice"),
        (CANONICAL.replace("0.001,", "NaN,"), "NaN is not JSON"),
        (CANONICAL.replace('"suiteopt-suite"', '"other"'), "suiteopt-suite"),
        (CANONICAL.replace('"seed": 1099511627777', '"seed": true'), "seed is not of type int"),
        (CANONICAL.replace('"allclose_candidate"', '"allclose"'), "'allclose' is unknown"),
        (CANONICAL.replace('"values"\n', '"magic"\n'), "'magic', which is unknown"),
    ],
)
def test_what_is_no_suite_is_refused_in_one_sentence(text: str | bytes, what: str) -> None:
    with pytest.raises(UserError, match=what) as caught:
        Suite.from_json(text)
    assert "\n" not in str(caught.value)


def test_a_problem_twice_or_unlike_tensors_are_refused() -> None:
    twice = replace(SMALL, problems=SMALL.problems * 2)
    with pytest.raises(UserError, match="holds level1/019 twice"):
        Suite.from_json(twice.to_json())
    problem = SMALL.problems[0]
    other = replace(problem.members[0], values={})
    unlike = replace(SMALL, problems=(replace(problem, members=(problem.members[0], other)),))
    with pytest.raises(UserError, match=r"members\[1\].values names other tensors"):
        Suite.from_json(unlike.to_json())


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="suiteopt select -o"):
        Suite.open(tmp_path / "none.json")
    with pytest.raises(UserError, match="cannot be read"):
        Suite.open(tmp_path)


def test_what_a_member_requires_follows_from_its_recipes_too() -> None:
    lattice = {"name": "lattice", "version": 1, "arguments": {}}
    benchmark = {"name": "benchmark", "version": 1, "arguments": {}}
    member = SMALL.problems[0].members[0]
    assert member.required == {Need.VALUES}
    assert replace(member, parameters={"w": benchmark}).required == {Need.VALUES}
    assert replace(member, parameters={"w": lattice}, needs=()).required == {Need.PARAMETERS}
    assert replace(member, shape_recipe="prime").required == {Need.VALUES, Need.SHAPES}


names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
arguments = st.dictionaries(
    names, st.one_of(st.integers(), st.booleans(), st.text(max_size=5), st.floats(-1e9, 1e9))
)
recipes = st.fixed_dictionaries(
    {"name": names, "version": st.integers(1, 9), "arguments": arguments}
)


@settings(max_examples=60, deadline=None)
@given(
    values=st.dictionaries(names, recipes, max_size=3),
    shape=st.dictionaries(names, st.integers(0, 2**40), max_size=3),
    seed=st.integers(-(2**63), 2**64),
    tolerance=st.floats(min_value=0, allow_nan=False),
    comparator=st.sampled_from([str(s) for s in Statistic]),
    needs=st.sets(st.sampled_from([str(n) for n in Need])),
    command=st.text(max_size=30).filter(lambda t: t.isprintable()),
)
def test_any_suite_survives_writing_and_reading(
    values: Any, shape: Any, seed: int, tolerance: float, comparator: str, needs: set[str],
    command: str,
) -> None:  # fmt: skip
    suite = replace(
        with_member(
            values=values,
            shape=shape,
            seed=seed,
            tolerance=tolerance,
            comparator=comparator,
            needs=tuple(sorted(needs)),
        ),
        command=command,
    )
    text = suite.to_json()
    assert Suite.from_json(text) == suite
    assert Suite.from_json(text.encode()).to_json() == text
    jsonschema.validate(json.loads(text), schema())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("level1/019:lattice", "a\\u001b[31mb", "input holds a control character"),
        ("level1/019:lattice", "a\\nb", "input holds a control character"),
        ('"x"', '"a\\u0007"', "values holds a control character"),
        ("level1/019:lattice", "\\ud800", "it is no JSON text"),
    ],
)
def test_names_are_of_one_line_that_can_be_shown(old: str, new: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as found:
        Suite.from_json(SMALL.to_json().replace(old, new))
    assert str(found.value).isprintable()


@pytest.mark.parametrize("ratio", ["1e999", "1.2.3", "1e-999", "0", "e"])
def test_a_ratio_is_a_number_above_zero(ratio: str) -> None:
    text = SMALL.to_json().replace(
        SMALL.problems[0].members[0].comparator, "allclose_candidate@0.1"
    )
    assert Suite.from_json(text).to_json() == text
    with pytest.raises(UserError, match="is unknown"):
        Suite.from_json(text.replace("@0.1", f"@{ratio}"))
