"""What ``matrix.json`` says of a campaign: tool, device, policy, hashes, label."""

import tomllib
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gpu_eval.campaign.plan import CampaignPlan
from gpu_eval.campaign.settings import Settings
from suiteopt.matrix.schema import ShapeScope

TOOL = "gpu-eval"
DISTRIBUTION = "kernel-suiteopt"
PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
"""Beside the packages in a checkout, and nowhere else."""
POLICY = {"tf32": False, "fast_math": False}


def header(
    plan: CampaignPlan, settings: Settings, device: Mapping[str, str], started: datetime
) -> dict[str, Any]:
    """Return the header's keys that are known from the start; `device` as it describes itself."""
    return {
        "tool": TOOL,
        "version": tool_version(),
        "profile": plan.profile,
        "label": label(plan, device),
        "device": dict(device),
        "command": settings.command,
        "started": started.isoformat(timespec="seconds"),
        "corpus_hash": plan.corpus_hash,
        "pool_hash": plan.pool_hash,
        "witness_hash": plan.witness_hash,
        "policy": POLICY,
        "ratios": [],
        "ledger": [],
    }


def tool_version() -> str:
    """Return the version of this distribution; of a checkout that is not installed, its own.

    The latter with ``+source``: what runs may be any state of the sources of that version.
    """
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        pass
    try:
        project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
        if project["name"] == DISTRIBUTION:
            return f"{project['version']}+source"
    except (OSError, ValueError, KeyError):
        pass
    return "0+unknown"


def label(plan: CampaignPlan, device: Mapping[str, str]) -> str:
    """Return the line that tables print above figures."""
    name = "GPU" if device["name"] == "cuda" else "CPU"
    scopes = {i.scope for problem in plan.problems for i in problem.inputs}
    return f"{name}, {'shortened' if ShapeScope.PROFILE in scopes else 'contract'} shapes"
