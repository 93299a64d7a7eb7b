from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpu_eval.campaign import device_settings
from gpu_eval.campaign.device_settings import on_device
from gpu_eval.campaign.run import Finished
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.shapes import PROFILES
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice

CORES = 16


@dataclass(frozen=True)
class FakeGpu(FakeDevice):
    """A fake that calls itself a GPU, and asks for more time than a CPU does."""

    torch_device: str = "cuda"
    deadline_floor: float = 1.25


@pytest.fixture(autouse=True)
def sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_settings, "cores", lambda: CORES)


@pytest.mark.parametrize("profile", ["replay", "confirm-contract", "contract", "demo"])
def test_a_gpu_is_shared_as_the_contract_profile_says(profile: str) -> None:
    settings = on_device(Settings(profile, "auto"), FakeGpu())
    contract = PROFILES["contract"]
    assert settings.device == "cuda"
    assert (settings.jobs, settings.block) == (contract.jobs, contract.block)
    assert settings.lanes == contract.lanes > 1
    assert settings.compilers == CORES - contract.jobs
    assert settings.deadline_floor == 1.25


def test_a_gpu_with_as_many_jobs_as_asked_for() -> None:
    settings = on_device(Settings("replay", "auto"), FakeGpu(), jobs=2)
    assert (settings.jobs, settings.compilers) == (2, CORES - 2)
    many = on_device(Settings("replay", "auto"), FakeGpu(), jobs=40)
    assert (many.jobs, many.compilers) == (40, 1)


@pytest.mark.parametrize("profile", ["replay", "demo"])
def test_every_core_of_a_cpu_measures(profile: str) -> None:
    settings = on_device(Settings(profile, "auto"), FakeDevice())
    assert settings == Settings(profile, "cpu", jobs=CORES, compilers=0)
    assert on_device(Settings(profile, "auto"), FakeDevice(), jobs=3).jobs == 3


@pytest.mark.parametrize("command", ["run", "replay"])
def test_the_commands_ask_alike(
    command: str, baseline: Baseline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from gpu_eval.cli.replay import replay
    from gpu_eval.cli.run import run
    from suiteopt.matrix.store import Matrix
    from tests.gpu_eval.campaign.test_matrix import suite_of

    asked: list[Settings] = []

    def start(root: Path, settings: Settings, *others: Any) -> Finished:
        asked.append(settings)
        return Finished(baseline.root, 0.0)

    monkeypatch.setattr("gpu_eval.campaign.run.start", start)
    monkeypatch.setattr("gpu_eval.devices.registry.open_device", lambda name: FakeGpu())
    if command == "run":
        run(tmp_path / "out", profile="contract", corpus=[baseline.corpus])
    else:
        suite_of(Matrix.open(baseline.root), ["test/one:own-0"]).save(tmp_path / "suite.json")
        replay(tmp_path / "suite.json", tmp_path / "out", corpus=[baseline.corpus])
    (settings,) = asked
    shared = (settings.device, settings.jobs, settings.compilers, settings.block, settings.lanes)
    assert shared == ("cuda", 4, CORES - 4, 144, 8)
    assert settings.deadline_floor == 1.25
    assert settings.profile == ("contract" if command == "run" else "replay")
