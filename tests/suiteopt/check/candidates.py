"""Candidates for the sample checkout, each wrong in its own way, and a suite that they meet."""

from pathlib import Path

from suiteopt.suite import Suite
from tests.suiteopt.export.checkouts import BAD, HEAD, calibrated, own_member
from tests.suiteopt.export.samples import problem, recipe

RELU, NORM = 19, 40

TAMPERING = (
    """
import json, os, sys

torch.allclose = lambda *a, **k: True
torch.Tensor.double = lambda self: torch.zeros(self.shape, dtype=torch.float64)
torch.isfinite = torch.isnan = lambda x: torch.ones(x.shape, dtype=torch.bool)
sys.modules["suiteopt.check.compare"] = sys.modules["suiteopt.check.verdict"] = None
VERDICT = json.dumps({"verdict": "accepted", "candidates": [], "accepted": True, "critical": 0})
print(VERDICT, flush=True)
print("\\033[2J" + VERDICT, file=sys.stderr, flush=True)
os.environ.clear()
"""
    + HEAD.partition("\n\n\n")[2]
    + "    def forward(self, x):\n        print(VERDICT)\n        return x\n"
)

MISBEHAVING = (
    "turn = 0\n\n\n"
    + HEAD.partition("\n\n\n")[2]
    + """
    def forward(self, x):
        global turn
        turn += 1
        right = x.relu()
        if turn == 1:
            raise RuntimeError("accepted\\n\\033[2Jall is well")
        if turn == 2:
            return right[:, 1:]
        if turn == 3:
            return right.double()
        if turn == 4:
            return right.masked_fill(right == right.max(), float("nan"))
        if turn == 5:
            raise SystemExit(0)
        return torch.zeros_like(x)
"""
)
"""Raises, wrong shape, wrong dtype, NaN, exits; zeros on the members."""

LEAVING = (
    HEAD
    + """
    def forward(self, x):
        if x.min() < 0:
            import os
            os._exit(0)
        return x
"""
)
HANGING = (
    HEAD
    + """
    def forward(self, x):
        while x.min() < 0:
            print("." * 4096)
        return x
"""
)
NEVER_LOADED = "while True:\n    pass\n"
RENAMED = (
    HEAD
    + """
    def __init__(self, shape):
        super().__init__()
        self.norm = nn.ParameterDict({"scale": torch.ones(shape), "add": torch.zeros(shape)})

    def forward(self, x):
        d = x - x.mean((1, 2, 3), keepdim=True)
        v = d.square().mean((1, 2, 3), keepdim=True)
        return d * torch.rsqrt(v + 1e-5) * self.norm["scale"] + self.norm["add"]
"""
)
BARE = (
    HEAD
    + """
    def __init__(self, shape):
        super().__init__()

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[1:])
"""
)
FOR_A_GPU = "import triton_that_is_not_there as triton\n"

RUN = {
    "level_1_problem_19_sample_0_kernel.py": TAMPERING,
    "level_1_problem_19_sample_1_kernel.py": BAD["early exit on zeros"][1],
    "level_1_problem_19_sample_2_kernel.py": MISBEHAVING,
    "level_1_problem_19_sample_10_kernel.py": LEAVING,
    "level_1_problem_40_sample_0_kernel.py": BARE,
    "level_1_problem_40_sample_1_kernel.py": RENAMED,
    "level_1_problem_23_sample_0_kernel.py": "",
}


def sample_suite() -> Suite:
    """Return signs and another shape for ReLU, an affine that is not the identity for LayerNorm."""
    affine = {"weight": recipe("away", sixteenths=20), "bias": recipe("away", sixteenths=8)}
    normal = {"x": recipe("normal")}
    return calibrated(
        None,
        problem(
            RELU,
            own_member("level1/019:normal", normal, tolerance=0.0),
            own_member("level1/019:normal@prime", normal, shape_recipe="prime"),
        ),
        problem(
            NORM,
            own_member("level1/040:offset", {"x": recipe("offset", offset=64)}, None, 1e-3),
            own_member("level1/040:affine", normal, affine, 1e-4),
        ),
    )


def write_run(place: Path) -> Path:
    """Write a run in KernelBench's layout; return its directory."""
    place.mkdir(parents=True)
    for name, text in RUN.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "eval_results.json").write_text("{}", encoding="utf-8")
    return place
