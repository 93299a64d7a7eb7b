"""Wild kernels: what is said of each is true on the host device, and nothing else notices them."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from gpu_eval.campaign.implementations import implementations
from gpu_eval.campaign.plan import build_plan
from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.devices.base import Case
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.check import check_inputs
from gpu_eval.problems.definition import Problem, Substrate
from gpu_eval.problems.loader import DEFINITION, Corpus
from gpu_eval.problems.locate import Definition
from gpu_eval.problems.tensors import dimensions
from gpu_eval.problems.validate_plan import check_substrates
from gpu_eval.problems.wild import WildKernel, all_wild_kernels, wild_kernels
from gpu_eval.problems.wild.kernel import DIRECTORY
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Kind, Status

KERNELS = all_wild_kernels()
NEEDS_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="the host device needs g++")
SAMPLE = ("level1/019", "level1/036", "level1/040", "level1/042")


def as_substrates(problem: Problem, kernels: list[WildKernel]) -> Problem:
    """Return the problem with wild kernels in place of its own."""
    return replace(
        problem,
        directory=kernels[0].path.parent,
        substrates=tuple(Substrate(k.name, k.path.name, k.plan) for k in kernels),
        controls=(),
    )


def test_there_are_enough_and_each_wrong_one_names_its_report() -> None:
    wrong = [k for k in KERNELS if k.wrong]
    assert len(wrong) >= 30
    assert len(KERNELS) - len(wrong) >= 10
    assert len({k.problem for k in wrong}) >= 12
    assert len({k.id for k in KERNELS}) == len(KERNELS)
    for kernel in KERNELS:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", kernel.name)
        assert kernel.what.endswith(".")
        assert (kernel.report is None) == (not kernel.wrong)
        if kernel.report is not None:
            assert kernel.report.url.startswith("https://")
            assert kernel.report.who
            assert kernel.report.whose


def test_sources_are_whole_and_none_is_left_over() -> None:
    assert {k.path for k in KERNELS} == set(DIRECTORY.glob("*/*.cu"))
    for kernel in KERNELS:
        (text,) = kernel.files().values()
        assert set(re.findall(r"#include\s*(\S+)", text)) <= {"<cuda_fp16.h>"}


@pytest.mark.parametrize("identifier", sorted({k.problem for k in KERNELS}))
def test_plans_fit_the_kernels_signatures(corpus: Corpus, identifier: str) -> None:
    problem = corpus.problem(identifier)
    definition = Definition(problem.directory / DEFINITION, problem.id)
    for kernel in wild_kernels(problem):
        foreign = as_substrates(problem, [kernel])
        if kernel.name == "grid-floor":  # no block at all at the smallest shape
            with pytest.raises(UserError, match="grid"):
                check_substrates(foreign, definition)
        else:
            check_substrates(foreign, definition)


def test_they_are_off_by_default_and_move_nothing(corpus: Corpus) -> None:
    problem = corpus.problem("level1/019")
    without, with_them = implementations(problem), implementations(problem, wild=True)
    assert with_them[: len(without)] == without
    added = with_them[len(without) :]
    assert [i.kind for i in added] == [Kind.WILD] * len(wild_kernels(problem))
    assert not any(i.kind == Kind.WILD for i in without)
    settings = Settings("demo", "cpu", ("level1/019",))
    off, on = build_plan(settings), build_plan(replace(settings, wild=True))
    assert off.corpus_hash == Corpus({problem.id: problem}).hash() != on.corpus_hash
    assert (off.pool_hash, off.witness_hash) == (on.pool_hash, on.witness_hash)


def test_settings_of_an_older_campaign_can_be_read() -> None:
    values = json.loads(Settings("demo", "cpu").to_json())
    del values["wild"]
    text = json.dumps(values)
    assert not Settings.from_json(text, Path("settings.json")).wild


@NEEDS_COMPILER
@pytest.mark.parametrize("identifier", SAMPLE)
def test_what_is_said_of_them_holds_on_the_host(
    corpus: Corpus, identifier: str, tmp_path: Path
) -> None:
    problem = corpus.problem(identifier)
    kernels = list(wild_kernels(problem))
    profile = PROFILES["demo"]
    pool = (*candidate_pool(problem, profile), *witness_pool(problem, profile))
    report = check_inputs(as_substrates(problem, kernels), open_device("cpu"), pool, tmp_path)
    for kernel, check in zip(kernels, report.implementations, strict=True):
        assert (check.ratio > 1) == kernel.wrong, (kernel.id, check)


@NEEDS_COMPILER
def test_faults_that_need_more_than_the_demo_pool_has(corpus: Corpus, tmp_path: Path) -> None:
    # Rows so narrow that two neighbours in the tree saw nothing; logits far below -64.
    narrow = {"x": torch.rand(3, 20)}
    deep = {
        "predictions": torch.rand(4, 30) - 300,
        "targets": torch.tensor([0, 29, 3, 7]),
    }
    device = open_device("cpu")
    for name, tensors, sizes in (
        ("level1/024:wild:narrow-rows", narrow, {"rows": 3, "cols": 20}),
        ("level1/095:wild:clamped-maximum", deep, {"rows": 4, "classes": 30}),
    ):
        problem = corpus.problem(name.partition(":")[0])
        kernels = {k.id: k for k in wild_kernels(problem)}
        rights = [k for k in kernels.values() if not k.wrong]
        outcomes = []
        with device.open() as session:
            wide = {n: t.double() if t.is_floating_point() else t for n, t in tensors.items()}
            session.bind(Case(name, tensors, problem.reference(tensors), problem.reference(wide)))
            for kernel in (kernels[name], *rights):
                (binary,) = device.compile([kernel.kernel_source()], tmp_path, 1)
                plan = kernel.plan.resolve(dimensions(problem, sizes), problem.scalars)
                outcomes.append(session.run(binary, plan, deadline=10.0).status)
        assert outcomes == [Status.NONFINITE, *[Status.OK] * len(rights)]
