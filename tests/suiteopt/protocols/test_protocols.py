import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import Nonfinite, parse_oracle
from suiteopt.matrix.schema import Kind, Statistic, Status
from suiteopt.protocols import (
    absent_inputs,
    judges_alike,
    known_protocols,
    load_oracle,
    load_protocol,
    protocol_detects,
    protocol_inputs,
    protocol_oracles,
    protocol_table,
)
from tests.suiteopt.builders import tiny_matrix

P = "level1/001"

# From the benchmarks' sources: tolerance in fp32, number of inputs, comparator, policy.
FACTS = {
    "kernelbench-v0.1": (1e-2, 5, Statistic.ALLCLOSE_CANDIDATE, Nonfinite.TORCH),
    "kernelbench": (1e-4, 5, Statistic.ALLCLOSE_CANDIDATE, Nonfinite.TORCH),
    "kernelbench-verified": (1e-3, 8, Statistic.ALLCLOSE_CANDIDATE, Nonfinite.TORCH),
    "multikernelbench": (1e-4, 5, Statistic.ALLCLOSE_CANDIDATE, Nonfinite.TORCH),
    "flashinfer-bench": (1e-2, 3, Statistic.EITHER_OR, Nonfinite.FINITE_OUTPUT),
    "robust-kbench": (1e-5, 5, Statistic.ALLCLOSE_CANDIDATE, Nonfinite.TORCH),
    "value-fuzz": (1e-2, 0, Statistic.ALLCLOSE_CANDIDATE, Nonfinite.TORCH),
}


def test_all_of_them_ship() -> None:
    assert set(known_protocols()) == set(FACTS)
    assert list(known_protocols()) == sorted(known_protocols())


@pytest.mark.parametrize("name", sorted(FACTS))
def test_what_each_benchmark_does(name: str) -> None:
    tolerance, count, comparator, nonfinite = FACTS[name]
    protocol = load_protocol(name)
    assert protocol.oracle.fixed_tolerance("float32") == tolerance
    assert sum(rule.count or 0 for rule in protocol.inputs) == count
    assert protocol.oracle.comparator == comparator
    assert protocol.oracle.nonfinite == nonfinite
    assert protocol.source.startswith(("github ", "arXiv "))
    assert load_oracle(name) == protocol.oracle == protocol_oracles()[name]
    text = (files("suiteopt.protocols") / f"{name}.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["name"] == name


def test_half_precision_is_looser() -> None:
    for name in ("kernelbench", "kernelbench-verified"):
        assert load_oracle(name).fixed_tolerance("bfloat16") == 1e-2
    with pytest.raises(UserError, match="protocol kernelbench has no tolerance for float64"):
        load_oracle("kernelbench").fixed_tolerance("float64")


def test_oracles_that_are_no_protocols_go_through() -> None:
    assert load_oracle("fixed:1e-3") == parse_oracle("fixed:1e-3")
    with pytest.raises(UserError, match=r"no oracle 'triton'.*kernelbench-verified"):
        load_oracle("triton")


def test_inputs_of_a_protocol(tmp_path: Path) -> None:
    other = {f"{P}:i0": {"value_recipe": "own-0", "parameter_recipe": "affine"}}
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 0]]}, own=True, inputs=other)
    draws = tuple(f"{P}:own-{j}" for j in range(5))
    assert protocol_inputs(matrix, P, load_protocol("kernelbench")) == draws
    assert protocol_inputs(matrix, P, load_protocol("flashinfer-bench")) == draws[:3]
    scalings = (f"{P}:own-x3", f"{P}:own-x0.01", f"{P}:own-x-1")
    assert protocol_inputs(matrix, P, load_protocol("kernelbench-verified")) == draws + scalings


def test_witnesses_are_no_inputs_of_a_protocol(tmp_path: Path) -> None:
    changes = {f"{P}:own-4": {"role": "witness"}}
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]}, own=True, inputs=changes)
    with pytest.raises(UserError) as caught:
        protocol_inputs(matrix, P, load_protocol("kernelbench"))
    assert str(caught.value) == (
        "the protocol kernelbench cannot be judged on level1/001: it runs 5 x own-[0-9] with "
        "benchmark parameters, of which the matrix has 4; use a matrix whose pool has them"
    )


def test_detection_by_tolerance(tmp_path: Path) -> None:
    """One error a mutant on every own draw; pool members that kill do not help a protocol."""
    errors = [0.5, 5e-3, 5e-4, 5e-5, 1e-6]
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]] * len(errors)}, own=True, own_kills={P: errors})
    expected = {
        "kernelbench-v0.1": 1,
        "flashinfer-bench": 1,
        "kernelbench-verified": 2,
        "kernelbench": 3,
        "multikernelbench": 3,
        "robust-kbench": 4,
    }
    for name, count in expected.items():
        protocol = load_protocol(name)
        found = protocol_detects(matrix, P, protocol)
        assert found.tolist() == [True] * count + [False] * (len(errors) - count), name
        table = protocol_table(matrix, P, protocol)
        assert protocol_detects(matrix, P, protocol, table=table).tolist() == found.tolist()
        assert len(found) == len(table.rows(Kind.MUTANT))


def test_a_protocol_detects_only_on_its_own_inputs(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 1], [0, 0]]}, own=True)
    assert kill_table(matrix, P, load_oracle("kernelbench")).kills.toarray()[0, 0]
    assert protocol_detects(matrix, P, load_protocol("kernelbench")).tolist() == [False, False]


WHOLE = """
name = "mine"
comparator = "allclose_reference"
tolerance = 1e-3
rtol_over_atol = 0.1
nonfinite = "equal_nan"
[[inputs]]
values = "lattice-*"
parameters = "affine"
shape = "prime"
count = 2
"""


def test_value_fuzz_asks_for_extremes_and_non_finite_values() -> None:
    protocol = load_protocol("value-fuzz")
    assert {rule.count for rule in protocol.inputs} == {None}
    names = {rule.values for rule in protocol.inputs}
    assert names >= {"beyond-half", "below-half", "octaves", "infinities", "nonfinite"}
    assert str(protocol.inputs[0]) == "all x own-x30 with benchmark parameters"


def test_all_of_a_recipe_may_be_none(tmp_path: Path) -> None:
    changes = {f"{P}:i1": {"value_recipe": "octaves"}, f"{P}:w0": {"value_recipe": "octaves"}}
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 0]]}, inputs=changes)
    protocol = load_protocol("value-fuzz")
    assert protocol_inputs(matrix, P, protocol) == (f"{P}:i1",)
    absent = absent_inputs(matrix, P, protocol)
    assert "octaves" not in absent
    assert len(absent) == len(protocol.inputs) - 1
    bare = tiny_matrix(tmp_path / "bare", {P: [[1]]})
    with pytest.raises(UserError, match="the matrix has none of its inputs"):
        protocol_inputs(bare, P, protocol)


@pytest.fixture
def own_file(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return str(path)

    return write


def test_a_users_own_file(own_file: Callable[[str], str]) -> None:
    protocol = load_protocol(own_file(WHOLE))
    assert protocol.oracle.comparator == "allclose_reference@0.1"
    assert protocol.oracle.tolerance == 1e-3
    assert protocol.oracle.nonfinite == Nonfinite.EQUAL_NAN
    (rule,) = protocol.inputs
    assert (rule.values, rule.parameters, rule.shape, rule.count) == (
        "lattice-*",
        "affine",
        "prime",
        2,
    )
    assert load_oracle(own_file(WHOLE)) == protocol.oracle


def test_the_documented_example_is_a_protocol(own_file: Callable[[str], str]) -> None:
    text = (Path(__file__).parents[3] / "docs" / "matrix-format.md").read_text(encoding="utf-8")
    protocol = load_protocol(own_file(text.split("```toml\n")[1].split("```")[0]))
    assert protocol.oracle.tolerance == 1e-3
    assert Status.UNWRITTEN in protocol.oracle.fatal
    assert [rule.count for rule in protocol.inputs] == [3, None]


def test_trials_stand_for_own_draws(own_file: Callable[[str], str], tmp_path: Path) -> None:
    text = 'name = "mine"\ncomparator = "max_abs"\ntolerance = 1e-3\ntrials = 3\n'
    protocol = load_protocol(own_file(text))
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]}, own=True)
    assert protocol_inputs(matrix, P, protocol) == tuple(f"{P}:own-{j}" for j in range(3))
    both = load_protocol(own_file(text + '[[inputs]]\nvalues = "own-x3"\n'))
    assert protocol_inputs(matrix, P, both)[3:] == (f"{P}:own-x3",)


def test_a_tolerance_calibrated_on_the_controls(own_file: Callable[[str], str]) -> None:
    text = WHOLE.replace("rtol_over_atol = 0.1\n", "").replace("1e-3", '"calibrated:30"')
    assert load_protocol(own_file(text)).oracle.safety == 30
    assert load_protocol(own_file(text.replace(":30", ""))).oracle.safety == 10


def test_what_a_harness_sees_by_itself(own_file: Callable[[str], str]) -> None:
    text = WHOLE.replace('"equal_nan"', '"equal_nan"\nsees = ["unwritten"]')
    assert Status.UNWRITTEN in load_protocol(own_file(text)).oracle.fatal
    assert Status.UNWRITTEN not in load_protocol(own_file(WHOLE)).oracle.fatal


def test_protocols_that_differ_in_the_name_alone_judge_alike() -> None:
    first, second = load_protocol("kernelbench"), load_protocol("kernelbench-v0.1")
    assert not judges_alike(first, second, ["float32"])
    assert judges_alike(first, replace(first, oracle=replace(first.oracle, name="other")), [])
    # 1e-4 for fp32 and 1e-2 for bf16 against 1e-4 for all.
    assert judges_alike(first, load_protocol("multikernelbench"), ["float32"])
    assert not judges_alike(first, load_protocol("multikernelbench"), ["float32", "bfloat16"])
    finite = replace(first.oracle, nonfinite=Nonfinite.FINITE_OUTPUT)
    assert not judges_alike(first, replace(first, oracle=finite), [])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("tolerance = 1e-3", 'tolerance = "calibrated:0.5"'), "its tolerance is neither"),
        (("tolerance = 1e-3", 'tolerance = "calibrated:x"'), "its tolerance is neither"),
        (("tolerance = 1e-3", "tolerance = 1e-3\ntrials = 0"), "its trials are no whole number"),
        (("tolerance = 1e-3", 'tolerance = 1e-3\nsees = ["crash"]'), "what it sees is no list"),
        (("tolerance = 1e-3", 'tolerance = 1e-3\nsees = "unwritten"'), "what it sees is no list"),
        (("count = 2", 'count = "every"'), "the count of an input is no whole number"),
        (('values = "lattice-*"', "values = 3"), "the values, parameters and shape of an input"),
        (('name = "mine"', ""), "it lacks the key 'name'"),
        (("tolerance = 1e-3", ""), "it lacks the key 'tolerance'"),
        (("tolerance = 1e-3", 'tolerance = "tight"'), "its tolerance is neither a number"),
        (("tolerance = 1e-3", "tolerance = -1"), "its tolerance is neither a number"),
        (("tolerance = 1e-3", "tolerance = true"), "its tolerance is neither a number"),
        (("tolerance = 1e-3", "tolerance = nan"), "its tolerance is neither a number"),
        (("tolerance = 1e-3", "tolerance = {}"), "its tolerance is neither a number"),
        (('"allclose_reference"', '"ulps"'), "its comparator is none of allclose_candidate"),
        (('"allclose_reference"', '"truth_rms"'), "its comparator is none of"),
        (('"allclose_reference"', '"rms"'), "only the two allclose comparators"),
        (('"equal_nan"', '"ignore"'), "its nonfinite policy is none of torch, equal_nan"),
        (("count = 2", "count = 0"), "the count of an input is no whole number"),
        (("count = 2", "seed = 3"), "an input has keys other than count, parameters"),
        (('values = "lattice-*"', ""), "an input has keys other than"),
        (('name = "mine"', 'name = "a:b"'), "its name has a colon, which sets a tolerance apart"),
        (('name = "mine"', 'name = "mine"\ncolour = 1'), "it has the unknown key 'colour'"),
        (("[[inputs]]", "[inputs]"), "its inputs are no array of tables"),
    ],
)
def test_files_that_are_no_protocol(
    own_file: Callable[[str], str], change: tuple[str, str], problem: str
) -> None:
    path = own_file(WHOLE.replace(*change))
    with pytest.raises(UserError) as caught:
        load_protocol(path)
    message = str(caught.value)
    assert message.startswith(f"{path} is no protocol: {problem}")
    assert "\n" not in message


def test_names_and_paths_that_lead_nowhere(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no protocol 'tritonbench'; use one of flashinfer-bench"):
        load_protocol("tritonbench")
    with pytest.raises(UserError, match=r"there is no file .*gone\.toml"):
        load_protocol(str(tmp_path / "gone.toml"))
    (tmp_path / "bad.toml").write_text("name = ")
    with pytest.raises(UserError, match=r"bad\.toml is no TOML file"):
        load_protocol(str(tmp_path / "bad.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(UserError, match=r"folder\.toml cannot be read \(Is a directory\)"):
        load_protocol(str(tmp_path / "folder.toml"))
