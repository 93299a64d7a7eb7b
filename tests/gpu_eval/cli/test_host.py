"""A whole tiny campaign on the host device, through the command line."""

import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from suiteopt.matrix.denominator import is_witnessed
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Suite
from tests.command import Answer, Command
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.test_matrix import suite_of

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("host")
    tiny.write_corpus(directory / "corpus")
    return directory


@pytest.fixture
def ran(gpu_eval: Command, place: Path) -> Answer:
    """The answer of the run; made once, by the first test that asks."""
    output = place / "matrix"
    if not output.exists():
        arguments = ("--corpus", place / "corpus", "--output", output, "--device", "cpu")
        answer = gpu_eval("run", *arguments, "--json")
        assert answer.code == 0, answer.err
        (place / "answer.json").write_text(answer.out)
    return Answer(0, (place / "answer.json").read_text(), "")


def test_run_answers_with_one_object(ran: Answer, place: Path) -> None:
    answer = ran.json
    assert answer["matrix"] == str(place / "matrix")
    assert answer["complete"] is True
    assert (answer["problems"], answer["substrates"], answer["nulls"]) == (2, 2, 14)
    mutants = answer["mutants"]
    parts = ("stillborn", "equivalent", "duplicate", "valid", "locked")
    assert mutants["generated"] == sum(mutants[part] for part in parts)
    assert 0 < mutants["distinct"] <= mutants["witnessed"] <= mutants["valid"]
    assert sorted(p.name for p in (place / "matrix").iterdir()) == [
        "cells",
        "implementations.parquet",
        "inputs.parquet",
        "matrix.json",
        "problems.parquet",
        "sources",
    ]


def test_known_faults_are_seen(ran: Answer, place: Path) -> None:
    matrix = Matrix.open(place / "matrix")
    matrix.verify()
    assert matrix.inputs["valid"].all()
    table = matrix.implementations_of("test/one").set_index("implementation")
    cells = matrix.cells("test/one")
    substrate = cells[cells["implementation"] == "test/one:substrate:plain"]
    assert (substrate["status"] == "ok").all()
    own = substrate[substrate["input"] == "test/one:own-0"]
    assert 0 < own["truth_rms"].item() < 1e-6
    # Integer sums are exact, whatever their order.
    lattice = cells[(cells["input"] == "test/one:lattice-fit")].set_index("implementation")
    controls = table.index[table["kind"] == "control"]
    assert (lattice.loc[controls, "truth_rms"] == 0).all()
    # Nine rows by blocks of four: one block short leaves the last row unwritten.
    short = only_mutant(table, "launch-grid-minus-one")
    assert table.loc[short, "witness"] == "contract"
    runs = cells[cells["implementation"] == short].set_index("input")
    assert runs.loc["test/one:own-0", "status"] == "unwritten"
    # The stale result is right, so that an output check sees no more than rounding.
    assert runs.loc["test/one:own-0", "rms"] < 1e-6
    unguarded = only_mutant(table, "guard-dropped")
    assert (cells[cells["implementation"] == unguarded]["status"] == "out_of_bounds").any()


def only_mutant(table: "pd.DataFrame", rule: str) -> str:
    """Return the only valid mutant that a rule makes."""
    made = table["rules"].map(lambda rules: rule in rules) & (table["class"] == "valid")
    (name,) = table.index[made]
    return str(name)


def test_witness_agrees_with_the_matrix(gpu_eval: Command, ran: Answer, place: Path) -> None:
    answer = gpu_eval("witness", place / "matrix", "--json")
    assert answer.code == 0
    assert answer.json["differing"] == []
    for row in answer.json["problems"]:
        assert sum(row["by_scope"].values()) == row["valid"]


def test_resume_of_a_finished_campaign(gpu_eval: Command, ran: Answer, place: Path) -> None:
    answer = gpu_eval("resume", place / "matrix", "--json")
    assert answer.code == 0
    assert answer.json["id"] == Matrix.open(place / "matrix").id


def test_a_second_run_gives_the_same_cells(gpu_eval: Command, ran: Answer, place: Path) -> None:
    output = place / "again"
    arguments = ("--corpus", place / "corpus", "--output", output, "--jobs", "1")
    assert gpu_eval("run", *arguments).code == 0
    assert tiny.cell_hashes(output) == tiny.cell_hashes(place / "matrix")


def test_replay(gpu_eval: Command, ran: Answer, place: Path) -> None:
    matrix = Matrix.open(place / "matrix")
    suite = suite_of(matrix, ["test/one:own-0", "test/one:lattice-fit"])
    suite.save(place / "suite.json")
    output = place / "replay"
    arguments = (place / "suite.json", "--output", output, "--corpus", place / "corpus")
    answer = gpu_eval("replay", *arguments, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["inputs"] == 2
    ours = Matrix.open(output).cells("test/one").astype({"implementation": str, "input": str})
    theirs = matrix.cells("test/one").astype({"implementation": str, "input": str})
    both = ours.merge(theirs, on=["implementation", "input"], suffixes=("", "_matrix"))
    both = both[~both["implementation"].str.endswith(":stale")]
    assert len(both) > 100
    assert both["rms"].equals(both["rms_matrix"].rename("rms"))


def test_confirm(gpu_eval: Command, ran: Answer, place: Path) -> None:
    matrix = Matrix.open(place / "matrix")
    suite = suite_of(matrix, ["test/one:own-0", "test/one:lattice-fit"])
    suite.save(place / "confirm.json")
    output = place / "confirmed"
    options = ("--corpus", place / "corpus", "--matrix", place / "matrix", "--output", output)
    arguments = ("confirm", place / "confirm.json", *options)
    refused = gpu_eval(*arguments, "--device", "cpu")
    assert (refused.code, refused.out) == (2, "")
    assert "--limits full" in refused.sentence
    cost = gpu_eval(*arguments, "--dry-run", "--json").json
    assert [row["inputs"] for row in cost["problems"]] == [2]
    assert cost["profile"] == "confirm-contract"
    assert not output.exists()
    answer = gpu_eval(*arguments, "--device", "cpu", "--limits", "full", "--json")
    assert answer.code == 0, answer.err
    found = answer.json
    assert found["promised"] == found["confirmed"] > 0
    assert (found["members"], found["full"], found["limits"]) == (2, 2, "full")
    assert (found["not_confirmed"], found["not_run"], found["controls_rejected"]) == (0, 0, 0)
    assert found["measured_id"] == Matrix.open(output).id
    (problem,) = found["problems"]
    assert problem["members"][0]["shape"] == {"rows": 9, "cols": 12}
    # Found done, and told to people: a line for the problem, one for each member.
    again = gpu_eval(*arguments)
    assert again.code == 0, again.err
    assert "2 full" in again.out
    assert f"kills: {found['promised']} promised, {found['confirmed']} confirmed" in again.out
    assert again.out.count("cols=12 rows=9") == 2


def test_confirm_refuses_before_it_measures(
    gpu_eval: Command, ran: Answer, place: Path, tmp_path: Path
) -> None:
    suite = suite_of(Matrix.open(place / "matrix"), ["test/one:own-0"])
    (problem,) = suite.problems
    renamed = replace(problem, members=(replace(problem.members[0], input="test/one:none"),))
    replace(suite, problems=(renamed,)).save(tmp_path / "renamed.json")
    replace(suite, matrix_id="0" * 64).save(tmp_path / "foreign.json")
    replace(suite, oracle="rms:0.5").save(tmp_path / "loose.json")
    options = ("--corpus", place / "corpus", "--matrix", place / "matrix", "--limits", "full")
    for name, expected in (
        ("renamed", "has no input test/one:none"),
        ("foreign", "the suite was chosen on the matrix 000000000000"),
        ("loose", "use a tolerance up to 0.1"),
    ):
        answer = gpu_eval("confirm", tmp_path / f"{name}.json", "-o", tmp_path / "out", *options)
        assert (answer.code, answer.out) == (2, "")
        assert expected in answer.sentence
    assert not (tmp_path / "out").exists()


def test_confirm_exits_with_1_for_a_rejected_control(
    gpu_eval: Command, ran: Answer, place: Path
) -> None:
    matrix = Matrix.open(place / "matrix")
    suite = suite_of(matrix, ["test/one:own-0"])
    (problem,) = suite.problems
    strict = replace(problem, members=(replace(problem.members[0], tolerance=0.0),))
    replace(suite, problems=(strict,)).save(place / "strict.json")
    output = place / "strictly"
    options = ("--corpus", place / "corpus", "--matrix", place / "matrix", "--limits", "full")
    answer = gpu_eval("confirm", place / "strict.json", "--output", output, *options)
    assert answer.code == 1
    assert "control rejected: test/one:own-0: test/one:control:" in answer.out
    # What it needs there is found without measuring again.
    mutants = int(is_witnessed(matrix.implementations_of("test/one"), matrix.meta).sum())
    replace(suite, problems=(replace(strict, mutants=mutants),)).save(place / "strict.json")
    raised = place / "raised.json"
    arguments = ("confirm", place / "strict.json", "--output", place / "strictly-2", *options)
    answer = gpu_eval(*arguments, "--raised", raised)
    assert answer.code == 1
    assert "1 tolerances raised of 1 members of the benchmark's own shape, 1 of which" in answer.out
    (member,) = Suite.open(raised).problems[0].members
    assert member.tolerance > 0.0
    again = gpu_eval("confirm", raised, "--output", place / "raised", *options, "--json")
    assert (again.code, again.json["controls_rejected"]) == (0, 0)
    fixed = replace(suite, oracle="fixed:1e-3")
    fixed.save(place / "fixed.json")
    arguments = ("confirm", place / "fixed.json", "--output", place / "never", *options)
    answer = gpu_eval(*arguments, "--raised", raised)
    assert answer.code == 2
    assert "only tolerances of a calibrated oracle can be raised" in answer.sentence
    (place / "file").write_text("", "utf-8")
    for name, expected in (
        ("matrix", "is a directory or a device"),
        ("file/raised.json", "may not be written"),
        ("strict.json", "is the suite that is confirmed"),
        ("never/raised.json", "lies in the new matrix"),
    ):
        arguments = ("confirm", place / "strict.json", "--output", place / "never", *options)
        answer = gpu_eval(*arguments, "--raised", place / name)
        assert (answer.code, answer.out) == (2, "")
        assert expected in answer.sentence
    replace(suite, problems=(replace(strict, mutants=10**6),)).save(place / "other.json")
    arguments = ("confirm", place / "other.json", "--output", place / "never", *options)
    assert "counts other mutants" in gpu_eval(*arguments, "--raised", raised).sentence
    assert not (place / "never").exists()


def test_a_replay_says_that_a_suite_is_from_a_gpu(
    gpu_eval: Command, ran: Answer, place: Path
) -> None:
    suite = suite_of(Matrix.open(place / "matrix"), ["test/one:own-0"])
    replace(suite, matrix_device="cuda").save(place / "gpu.json")
    arguments = (place / "gpu.json", "--output", place / "matrix", "--device", "cpu")
    answer = gpu_eval("replay", *arguments)
    assert answer.code == 2  # the output holds a campaign
    assert "was measured on a GPU" in answer.err


def test_corpus_check(gpu_eval: Command, place: Path) -> None:
    arguments = ("corpus", "check", "test/one", "--corpus", place / "corpus")
    answer = gpu_eval(*arguments, "--json")
    assert answer.code == 0, answer.err
    (report,) = answer.json["problems"]
    assert report["passed"]
    assert report["inputs"] == 28
    wrong = place / "wrong"
    shutil.copytree(place / "corpus", wrong)
    kernel = wrong / "one" / "kernel.cu"
    kernel.write_text(kernel.read_text().replace("i < cols", "i < cols - 1"))
    answer = gpu_eval("corpus", "check", "test/one", "--corpus", wrong)
    assert answer.code == 1
    assert "test/one plain" in answer.sentence


def test_mutants_list_compiled(gpu_eval: Command, place: Path) -> None:
    arguments = ("mutants", "list", "--compile", "--corpus", place / "corpus")
    answer = gpu_eval(*arguments, "--problem", "test/one", "--json").json
    parts = ("stillborn", "equivalent", "duplicate", "valid")
    assert answer["generated"] == sum(answer[part] for part in parts)
    table = Matrix.open(place / "matrix").implementations_of("test/one")
    mutants = table[table["kind"] == "mutant"]
    assert answer["valid"] == (mutants["class"] == "valid").sum()
