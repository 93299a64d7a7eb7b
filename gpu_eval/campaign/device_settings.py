"""Settings that follow from the device: how many processes, and of how much at a time."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from gpu_eval.campaign.settings import Settings

if TYPE_CHECKING:
    from gpu_eval.devices.base import Device

GPU_PROFILE = "contract"
"""The profile that says how a GPU is shared, whatever is run on it."""


def on_device(settings: Settings, device: "Device", jobs: int | None = None) -> Settings:
    """Fit what was asked to an opened device; every command that measures goes through here.

    On a GPU few processes take turns, each with several lanes and in large blocks, and the
    processor's other cores compile;
    on a CPU every core measures. A run may take what the device says at least.

    Parameters
    ----------
    settings : Settings
        What is to be measured; its device, jobs, lanes, compilers, block and deadline
        floor are set.
    device : Device
    jobs : int, optional
        Processes that measure, where the user says how many.
    """
    from gpu_eval.campaign.shapes import PROFILES

    name = resolved_name(device)
    on_cpu = name == "cpu"
    shared = PROFILES.get(settings.profile) if on_cpu else PROFILES[GPU_PROFILE]
    measuring = jobs or (cores() if on_cpu or shared is None else shared.jobs)
    return replace(
        settings,
        device=name,
        jobs=measuring,
        lanes=1 if on_cpu or shared is None else shared.lanes,
        compilers=0 if on_cpu else max(cores() - measuring, 1),
        deadline_floor=device.deadline_floor,
        block=settings.block if shared is None else shared.block,
    )


def resolved_name(device: "Device") -> str:
    """Return the name under which `open_device` gives the same device again."""
    return "cpu" if device.torch_device == "cpu" else "cuda"


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
