"""The own check against KernelBench's harness itself, where `SUITEOPT_CHECKOUT_KERNELBENCH` is."""

from pathlib import Path

import pytest

from suiteopt.check.candidates import run_candidates
from suiteopt.check.judging import judge
from suiteopt.check.settings import Settings
from suiteopt.check.verdict import Verdict
from suiteopt.protocols import load_protocol
from tests.suiteopt.check.candidates import MISBEHAVING, sample_suite
from tests.suiteopt.export.checkouts import BAD, GOOD, HEAD
from tests.suiteopt.export.test_real_checkouts import (
    definition,
    fresh_modules,
    real,
    run_kernelbench,
    shorten,
)

__all__ = ["fresh_modules"]

FORWARD = HEAD + "    def forward(self, x):\n"
CANDIDATES = [
    (19, GOOD[19]),
    (19, BAD["identity relu"][1]),
    (19, FORWARD + "        return x * 1.0001\n"),
    (19, FORWARD + "        return x * 1.0003\n"),
    (19, FORWARD + "        return x.double()\n"),
    (19, FORWARD + "        return x[1:]\n"),
    (19, MISBEHAVING.replace("SystemExit(0)", "ValueError")),
    (40, GOOD[40]),
    (40, BAD["scale deleted"][1]),
    (40, BAD["one-pass variance"][1]),
]
SHORT = {19: {"batch_size": "4", "dim": "512"}, 40: {"batch_size": "2", "dim1": "8", "dim2": "8"}}


@pytest.mark.usefixtures("fresh_modules")
def test_own_draws_decide_as_the_harness_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = real("kernelbench", tmp_path, "KernelBench", "src")
    for number, constants in SHORT.items():
        shorten(definition(repo, number), constants)
    run = tmp_path / "run"
    run.mkdir()
    for sample, (number, text) in enumerate(CANDIDATES):
        path = run / f"level_1_problem_{number}_sample_{sample}_kernel.py"
        path.write_text(text, encoding="utf-8")
    found, _ = run_candidates(run, sample_suite())
    settings = Settings(device="cpu")
    _, reports = judge(found, sample_suite(), load_protocol("kernelbench"), repo, settings)
    ours = [report.own_verdict is Verdict.ACCEPTED for report in reports]
    monkeypatch.syspath_prepend(str(repo / "src"))
    theirs = [
        bool(run_kernelbench(repo, number, text, definition(repo, number).read_text()).correctness)
        for number, text in CANDIDATES
    ]
    assert ours == theirs
    assert theirs == [True, True, True, False, False, False, False, True, True, True]
