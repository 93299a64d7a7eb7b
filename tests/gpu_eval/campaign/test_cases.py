"""Cases are made where they run: a processor takes minutes for a hundred million elements."""

import pytest
import torch

from gpu_eval.campaign import cases
from gpu_eval.campaign.pool import candidate_pool, realise
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.problems.loader import load_corpus


def test_tensors_are_made_on_the_device_that_runs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = load_corpus().problems["level1/040"]
    asked: list[str] = []

    def recorded(problem: object, pool_input: object, device: str = "cpu") -> dict[str, object]:
        asked.append(device)
        raise ZeroDivisionError

    monkeypatch.setattr(cases, "realise", recorded)
    factory = cases.CaseFactory(problem, "cuda")
    with pytest.raises(ZeroDivisionError):
        factory.get(candidate_pool(problem, PROFILES["demo"])[0])
    assert asked == ["cuda"]


def test_a_case_holds_the_tensors_of_its_input() -> None:
    problem = load_corpus().problems["level1/040"]
    factory = cases.CaseFactory(problem, "cpu")
    for pool_input in candidate_pool(problem, PROFILES["demo"])[:4]:
        made, wanted = factory.get(pool_input).case, realise(problem, pool_input)
        assert list(made.tensors) == list(wanted)
        assert all(torch.equal(made.tensors[name], wanted[name]) for name in wanted)
        assert all(t.is_contiguous() for t in made.tensors.values())
        assert {t.dtype for t in made.truth.values()} == {torch.float64}
