"""Small checkouts of every target, suites for them, and candidates that are known to be wrong."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from suiteopt.suite import Member, ProblemSuite, Suite
from tests.suiteopt.export.samples import MATRIX_ID, NAMES, SAMPLE, problem, recipe

DATA = SAMPLE.parent


def checkout(name: str, tmp_path: Path) -> Path:
    """Return a copy of a sample checkout."""
    repo = tmp_path / name
    shutil.copytree(DATA / f"{name}_sample", repo, ignore=shutil.ignore_patterns("__pycache__"))
    if name == "kernelbench":
        shutil.copytree(SAMPLE / "KernelBench", repo / "KernelBench")
    return repo


def own_member(
    input_id: str,
    values: dict[str, dict[str, Any]],
    parameters: dict[str, dict[str, Any]] | None = None,
    tolerance: float = 1e-5,
    comparator: str = "rms",
    **changes: Any,
) -> Member:
    """Return a member with its own comparator and tolerance."""
    moved = any(one["name"] != "benchmark" for one in (parameters or {}).values())
    needs = ("parameters", "values") if moved else ("values",)
    made = Member(
        input=input_id,
        values=values,
        parameters=parameters or {},
        shape={"N": 64},
        shape_recipe="contract",
        seed=7,
        tolerance=tolerance,
        comparator=comparator,
        needs=needs,
    )
    return replace(made, **changes)


def calibrated(target: str | None, *problems: ProblemSuite) -> Suite:
    """Return a suite whose members bring their own tolerances."""
    return Suite(
        matrix_id=MATRIX_ID,
        matrix_device="cpu",
        oracle="calibrated",
        target=target,
        budget=2,
        command="suiteopt select -o suite.json",
        problems=problems,
    )


def fixed(target: str, tolerance: float, *problems: ProblemSuite) -> Suite:
    """Return the suite of a target with one tolerance for all."""
    at = tuple(
        replace(
            part,
            members=tuple(
                replace(one, tolerance=tolerance, comparator="allclose_candidate")
                for one in part.members
            ),
        )
        for part in problems
    )
    return replace(calibrated(target, *at), oracle=f"fixed:{tolerance:g}")


def standard_problems(parameters: bool) -> tuple[ProblemSuite, ...]:
    """Return three problems: signs for ReLU, an offset for LayerNorm, a lattice for matmul."""
    affine = {
        "weight": recipe("away", sixteenths=20),
        "bias": recipe("away", sixteenths=8),
    }
    identity = dict.fromkeys(("weight", "bias"), recipe("benchmark"))
    lattice = {name: recipe("lattice", width=3) for name in NAMES[1][1]}
    return (
        problem(1, own_member("level1/001:lattice", lattice)),
        problem(19, own_member("level1/019:normal", {"x": recipe("normal")})),
        problem(
            40,
            own_member("level1/040:offset", {"x": recipe("offset", offset=64)}, identity, 1e-3),
            own_member(
                "level1/040:affine",
                {"x": recipe("normal")},
                affine if parameters else identity,
                1e-4,
            ),
        ),
    )


HEAD = "import torch\nfrom torch import nn\n\n\nclass ModelNew(nn.Module):\n"
LAYER_NORM = (
    "    def __init__(self, shape):\n"
    "        super().__init__()\n"
    "        self.ln = nn.LayerNorm(shape)\n\n"
    "    def forward(self, x):\n"
)

GOOD = {
    1: HEAD + "    def forward(self, A, B):\n        return torch.matmul(A, B)\n",
    19: HEAD + "    def forward(self, x):\n        return torch.where(x > 0, x, 0.0)\n",
    40: HEAD
    + LAYER_NORM
    + "        d = x - x.mean((1, 2, 3), keepdim=True)\n"
    + "        v = d.square().mean((1, 2, 3), keepdim=True)\n"
    + "        return d * torch.rsqrt(v + 1e-5) * self.ln.weight + self.ln.bias\n",
}

BAD = {
    "identity relu": (19, HEAD + "    def forward(self, x):\n        return x.clone()\n"),
    "early exit on zeros": (
        19,
        HEAD + "    def forward(self, x):\n"
        "        return x.relu() if (x > 0).any(1).all() and x.min() >= 0 else x * 0\n",
    ),
    "one-pass variance": (
        40,
        HEAD
        + LAYER_NORM
        + "        m = x.mean((1, 2, 3), keepdim=True)\n"
        + "        v = x.square().mean((1, 2, 3), keepdim=True) - m * m\n"
        + "        return (x - m) * torch.rsqrt(v + 1e-5) * self.ln.weight + self.ln.bias\n",
    ),
    "scale deleted": (
        40,
        HEAD
        + LAYER_NORM
        + "        d = x - x.mean((1, 2, 3), keepdim=True)\n"
        + "        v = d.square().mean((1, 2, 3), keepdim=True)\n"
        + "        return d * torch.rsqrt(v + 1e-5)\n",
    ),
}
