"""What the referee makes and expects, known answers, and how it says that it cannot."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from suiteopt.check.case import CannotJudgeError
from suiteopt.check.referee import Desk, Referee
from suiteopt.check.runner import Runner
from suiteopt.check.wire import checked, describe, read, write
from tests.suiteopt.check.candidates import sample_suite
from tests.suiteopt.export.samples import SAMPLE

LEVEL = SAMPLE / "KernelBench" / "level1"
RELU, NORM = LEVEL / "19_ReLU.py", LEVEL / "40_LayerNorm.py"
OWN = {"draws": 5, "comparator": "allclose_candidate", "tolerance": 1e-4, "nonfinite": "torch"}


def order(reference: Path, problem: int, **changes: Any) -> dict[str, Any]:
    documents = json.loads(sample_suite().to_json())["problems"]
    return {
        "op": "open",
        "reference": str(reference),
        "device": "cpu",
        "names": ["x"],
        "own": OWN,
        "members": documents[problem]["members"],
        "nonfinite": "torch",
        "parameter_names": {},
        "max_bytes": None,
        **changes,
    }


def inputs_of(prepared: Mapping[str, Any]) -> list[torch.Tensor]:
    given = prepared["inputs"]
    return read(Path(given["file"]), checked(given["header"]))


def judged(referee: Referee, number: int, tensor: torch.Tensor, path: Path) -> Any:
    path.unlink(missing_ok=True)
    return referee.judge(number, write(path, [tensor]), path)


def test_own_draws_are_the_harness_s(tmp_path: Path) -> None:
    referee = Referee(order(RELU, 0))
    (x,) = inputs_of(referee.prepare(2, tmp_path, False))
    torch.manual_seed(2197670066)
    assert torch.equal(x, torch.rand(16, 1000))
    assert judged(referee, 2, x, tmp_path / "out")["accepted"]  # all positive: its own ReLU


def test_the_own_check_is_allclose_itself(tmp_path: Path) -> None:
    referee = Referee(order(RELU, 0))
    (x,) = inputs_of(referee.prepare(0, tmp_path, False))
    for factor in (1.0, 1 + 1e-4, 1 + 2e-4, 1 + 4e-4, 0.0):
        got = x * factor
        expected = torch.allclose(x, got, atol=1e-4, rtol=1e-4)
        found = judged(referee, 0, got, tmp_path / "out")
        assert found["accepted"] == expected
        d = (x.double() - got.double()).abs()
        assert found["critical"] == pytest.approx(float((d / (1 + got.double().abs())).max()))


def test_members_set_parameters_and_put_them_back(tmp_path: Path) -> None:
    referee = Referee(order(NORM, 1))
    prepared = referee.prepare(6, tmp_path, False)
    assert prepared["parameters"]["names"] == prepared["parameters"]["required"]
    assert sorted(prepared["parameters"]["names"]) == ["ln.bias", "ln.weight"]
    assert prepared["tf32"] is False
    (x,) = inputs_of(prepared)
    given = prepared["parameters"]
    values = dict(
        zip(given["names"], read(Path(given["file"]), checked(given["header"])), strict=True)
    )
    assert float((values["ln.weight"] - 1).abs().min()) > 0
    normalised = torch.nn.functional.layer_norm(x, (8, 16, 16))
    right = normalised * values["ln.weight"] + values["ln.bias"]
    assert judged(referee, 6, right, tmp_path / "out")["accepted"]
    assert not judged(referee, 6, normalised, tmp_path / "out")["accepted"]
    (tmp_path / "inputs").unlink()
    (tmp_path / "parameters").unlink()
    (y,) = inputs_of(referee.prepare(0, tmp_path, False))
    same = torch.nn.functional.layer_norm(y, (8, 16, 16))
    assert judged(referee, 0, same, tmp_path / "out")["critical"] < 1e-6


def test_drawn_parameters_are_handed_on_when_asked_for(tmp_path: Path) -> None:
    referee = Referee(order(NORM, 1))
    given = referee.prepare(5, tmp_path, True)["parameters"]
    assert (sorted(given["names"]), given["required"]) == (["ln.bias", "ln.weight"], [])


def test_a_reference_that_works_in_place_changes_no_input(tmp_path: Path) -> None:
    reference = tmp_path / "definition.py"
    reference.write_text(RELU.read_text().replace("x.relu()", "x.relu_()"), encoding="utf-8")
    referee = Referee(order(reference, 0))
    (x,) = inputs_of(referee.prepare(5, tmp_path, False))
    assert float(x.min()) < 0
    assert judged(referee, 5, x.relu(), tmp_path / "out") == {
        "accepted": True,
        "critical": 0.0,
        "why": "",
    }


@pytest.mark.parametrize(
    ("text", "changes", "number", "says"),
    [
        ("", {"max_bytes": 63_999}, 5, "its inputs take 64000 bytes, and 63999 are allowed"),
        ("x.relu()", {}, 6, "measured at other shapes"),
        ("x.relu(1)", {}, 5, "the reference fails: TypeError"),
        ("x.no", {}, 0, "the reference fails: AttributeError"),
    ],
)
def test_what_says_nothing_of_a_candidate_is_told(
    tmp_path: Path, text: str, changes: dict[str, Any], number: int, says: str
) -> None:
    reference = tmp_path / "definition.py"
    source = RELU.read_text()
    reference.write_text(source.replace("x.relu()", text) if text else source, encoding="utf-8")
    referee = Referee(order(reference, 0, **changes))
    with pytest.raises(CannotJudgeError, match=says):
        referee.prepare(number, tmp_path, False)


def test_a_truth_comparator_is_not_judged(tmp_path: Path) -> None:
    members = order(RELU, 0)["members"]
    members[0]["comparator"] = "truth_rms"
    with pytest.raises(CannotJudgeError, match="needs a reference in fp64"):
        Referee(order(RELU, 0, members=members)).prepare(5, tmp_path, False)


def test_a_file_that_is_no_reference_is_said(tmp_path: Path) -> None:
    reference = tmp_path / "definition.py"
    reference.write_text(RELU.read_text().replace("def get_inputs", "def other"), encoding="utf-8")
    assert Desk().answer(order(reference, 0)) == {"cannot": "it defines no get_inputs"}
    if not torch.cuda.is_available():
        wanted = Desk().answer(order(RELU, 0, device="cuda"))
        assert wanted == {"cannot": "torch sees no GPU here; use --device cpu"}


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ([], "0 outputs and not 1"),
        ([{"dtype": "float32", "shape": [16, 999]}], "shape"),
        ([{"dtype": "float32", "shape": [1 << 40, 1 << 40]}], "shape"),
        ([{"dtype": "float64", "shape": [16, 1000]}], "dtype"),
        ([{"dtype": "float32", "shape": [16, 1000]}], "cannot be read"),
        ({"accepted": True}, "no short list"),
        ("accepted", "no short list"),
    ],
)
def test_a_header_that_lies_is_a_rejection(tmp_path: Path, header: Any, says: str) -> None:
    found = Referee(order(RELU, 0)).judge(5, header, tmp_path / "none")
    assert (found["accepted"], found["critical"]) == (False, None)
    assert says in found["why"]


def test_a_runner_gives_bytes_back_and_its_parameters_their_values(tmp_path: Path) -> None:
    referee, runner = Referee(order(NORM, 1)), Runner()
    candidate = tmp_path / "candidate.py"
    text = NORM.read_text().replace("class Model", "class ModelNew")
    candidate.write_text(text, encoding="utf-8")
    # What `load` does, but for the limits that a process of its own gets.
    from suiteopt.check.definition import build, execute, init_arguments, new_namespace

    namespace = new_namespace("suiteopt_candidate_of_a_test")
    execute(candidate, namespace)
    arguments = init_arguments(namespace, "cpu")
    runner._model = build(namespace["ModelNew"], arguments, "cpu")
    before = {name: t.clone() for name, t in runner._model.named_parameters()}
    request = {**referee.prepare(6, tmp_path, True), "op": "run", "output": str(tmp_path / "out")}
    answer = runner.answer(request)
    assert answer["outputs"] == [describe(torch.zeros(4, 8, 16, 16))]
    assert referee.judge(6, answer["outputs"], tmp_path / "out")["critical"] == 0
    for name, tensor in runner._model.named_parameters():
        assert torch.equal(tensor, before[name])


def test_what_is_too_large_to_be_kept_is_made_again_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suiteopt.check.referee.CACHE_BYTES", 0)
    referee = Referee(order(RELU, 0))
    found = []
    for turn in range(2):
        for number in (0, 5):
            folder = tmp_path / f"{turn}-{number}"
            folder.mkdir()
            (x,) = inputs_of(referee.prepare(number, folder, False))
            assert judged(referee, number, x.relu(), folder / "out")["critical"] == 0
            found.append(x)
    assert torch.equal(found[0], found[2])
    assert torch.equal(found[1], found[3])
