"""A device in memory whose implementations do as they are told, and a tiny corpus for it."""

import hashlib
import os
import re
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from gpu_eval.campaign.side_by_side import AHEAD
from gpu_eval.devices.base import (
    Binary,
    Case,
    Device,
    DeviceLostError,
    Job,
    KernelSource,
    Outcome,
    Session,
)
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Count, Statistic, Status

CORRUPTED = {"memory": False}
"""What a mutant that corrupts its process leaves behind for the next one to die of."""


@dataclass(frozen=True)
class FakeDevice(Device):
    """Runs nothing: an implementation's output is the reference, off by what its id says.

    Parameters
    ----------
    acts : mapping of str to str
        By a part of an implementation's id: ``die``, ``exit``, ``hang``, ``raise``, ``corrupt``,
        ``timeout``, ``crash``, ``launch_error``, ``race``, ``out_of_bounds``, ``unwritten``,
        ``nan``, ``far``, ``lose`` (the device, with a known outcome), ``poison`` (it without
        saying so), ``late`` (it, which shows only when the next input is bound), ``scribble``
        (over the references), ``stray`` (into memory of nobody, which its own run shows once
        somebody has looked there).
        After `` on `` a part of the inputs' keys on which alone it does so.
    lane_count : int
        How many jobs a session has under way at the same time.
    stillborn : tuple of str
        Parts of ids that do not compile.
    once : str
        A file: a ``die``, ``exit`` or ``lose`` happens only while it is missing, and makes it
        (a ``late``, too).
    closed : str
        A file that closing a lost session makes: nobody may try that.
    log : str
        A file that gets a line for every run.
    pause : float
        Seconds that every run takes.
    """

    acts: Mapping[str, str] = field(default_factory=dict)
    stillborn: tuple[str, ...] = ()
    once: str = ""
    closed: str = ""
    log: str = ""
    pause: float = 0.0
    name: str = "fake"
    torch_device: str = "cpu"
    schedules: int = 2
    isolated: bool = False
    standby: int = 0
    places: int = 1
    lane_count: int = 1

    def parts(self) -> Sequence[Device]:
        return (self,) * self.places

    def describe(self) -> dict[str, str]:
        return {"name": self.name, "model": "none"}

    def compile(self, sources: Sequence[KernelSource], cache: Path, jobs: int) -> list[Binary]:
        cache.mkdir(parents=True, exist_ok=True)
        return [self._compile(source, cache) for source in sources]

    def _compile(self, source: KernelSource, cache: Path) -> Binary:
        if any(part in source.id for part in self.stillborn):
            return Binary(source.id, None, "", source.kernels, "", "error: expected ';'")
        text = re.sub(r"\s+", "", repr(sorted(source.files.items())))
        code = hashlib.sha256(text.encode()).hexdigest()
        path = cache / f"{code}.bin"
        made = path.with_suffix(f".{os.getpid()}")  # two processes may make the same
        made.write_text(code)
        made.replace(path)
        return Binary(source.id, path, source.id, source.kernels, code)

    def open(self) -> Session:
        return FakeSession(self)


class FakeSession(Session):
    """The session of a `FakeDevice`."""

    def __init__(self, device: FakeDevice) -> None:
        self._device = device
        self._case: Case | None = None
        self._lost = False
        self._late = False
        self._stray = False
        self._watched = ""

    @property
    def lanes(self) -> int:
        return self._device.lane_count

    def run_many(self, jobs: Sequence[Job]) -> Sequence[Outcome]:
        assert 1 <= len(jobs) <= AHEAD * self.lanes
        if self._device.log:
            assert self._case is not None
            names = " & ".join(job.binary.id for job in jobs)
            with Path(f"{self._device.log}.batches").open("a") as log:
                log.write(f"{self._case.key}|{names}\n")
        return super().run_many(jobs)

    def bind(self, case: Case) -> None:
        if self._late:
            self._lost = True
            raise RuntimeError("an error of an earlier launch")
        self._case = case

    def run(
        self, binary: Binary, plan: ResolvedPlan, *, schedule: int = 0, deadline: float = 2.0
    ) -> Outcome:
        assert self._case is not None
        if self._device.pause:
            time.sleep(self._device.pause)
        if self._device.log:
            with Path(self._device.log).open("a") as log:
                log.write(f"{binary.id}|{self._case.key}|{schedule}|{plan!r}\n")
        acts = [act for part, act in self._device.acts.items() if part in binary.id]
        act, _, where = (acts[0] if acts else "").partition(" on ")
        if where not in self._case.key:
            act = ""
        if CORRUPTED["memory"] and ":substrate:" not in binary.id and act != "corrupt":
            os._exit(139)
        self._disturb(act)
        if act in ("timeout", "crash", "launch_error"):
            return Outcome(Status(act), message=f"planned {act}")
        size = 0.0
        if ":substrate:" not in binary.id and ":control:" not in binary.id:
            digest = hashlib.sha256(binary.machine_code.encode() + repr(plan).encode()).digest()
            size = 10.0 ** -(digest[0] % 9)
        if act in ("out_of_bounds", "unwritten"):
            size = 0.0
        if act == "race":
            size += schedule * 0.25
        if act == "far":
            size = 1000.0
        outputs = {n: t * (1 + size) + size for n, t in self._case.reference.items()}
        if act == "nan":
            outputs = {n: torch.full_like(t, float("nan")) for n, t in outputs.items()}
        outcome = self.judge(outputs)
        self._outputs = outputs
        if act == "scribble":
            for tensor in self._case.reference.values():
                tensor.add_(1)
        if act == "stray":
            if self._watched == self._case.key:
                act = "out_of_bounds"
            self._stray = self._watched != self._case.key
        if act in ("out_of_bounds", "unwritten"):
            return Outcome(Status(act), outcome.statistics, outcome.counts, outcome.output_hash)
        return outcome

    def _disturb(self, act: str) -> None:
        if act in ("die", "exit", "lose", "late") and self._device.once:
            try:
                Path(self._device.once).touch(exist_ok=False)
            except FileExistsError:
                return
        match act:
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "exit":
                os._exit(3)
            case "hang":
                time.sleep(3600)
            case "raise":
                raise RuntimeError("sticky error")
            case "user_error":
                raise UserError("the compiler is gone; install it")
            case "lose":
                self._lost = True
                raise DeviceLostError(Outcome(Status.TIMEOUT, message="still running"))
            case "late":
                self._late = True
            case "poison":
                self._lost = True
                raise RuntimeError("an illegal memory access was encountered")
            case "corrupt":
                CORRUPTED["memory"] = True

    def judge(self, outputs: Mapping[str, torch.Tensor]) -> Outcome:
        assert self._case is not None
        return judge(self._case, outputs)

    def outputs(self) -> Mapping[str, torch.Tensor]:
        return self._outputs

    def checksum(self) -> int:
        assert self._case is not None
        tensors = (*self._case.tensors.values(), *self._case.reference.values())
        return hash(b"".join(t.numpy().tobytes() for t in tensors))

    def trespassed(self) -> bool:
        assert self._case is not None
        found, self._stray = self._stray, False
        if found:
            self._watched = self._case.key
        return found

    def lost(self) -> bool:
        return self._lost

    def close(self) -> None:
        self._case = None
        if self._lost and self._device.closed:
            Path(self._device.closed).touch()


_JUDGED: dict[tuple[object, ...], Outcome] = {}


def judge(case: Case, outputs: Mapping[str, torch.Tensor]) -> Outcome:
    """Judge equal outputs by equal references once: most mutants have one of ten outputs."""
    tensors = [t for n, out in outputs.items() for t in (out, case.reference[n], case.truth[n])]
    key = (*outputs, *((t.dtype, t.numpy().tobytes()) for t in tensors))
    if key not in _JUDGED:
        _JUDGED[key] = _judge(case, outputs)
    return _JUDGED[key]


def _judge(case: Case, outputs: Mapping[str, torch.Tensor]) -> Outcome:
    """Compare plainly, one output tensor after the other."""
    worst: dict[Statistic, float] = dict.fromkeys(Statistic, 0.0)
    counts: dict[Count, int] = dict.fromkeys(Count, 0)
    digest = hashlib.sha256()
    for name, out in outputs.items():
        digest.update(out.numpy().tobytes())
        wide, own, truth = out.double(), case.reference[name].double(), case.truth[name]
        counts[Count.NAN_BOTH] += int((wide.isnan() & own.isnan()).sum())
        counts[Count.NAN_ONE] += int((wide.isnan() ^ own.isnan()).sum())
        counts[Count.NONFINITE_OUTPUT] += int((~wide.isfinite()).sum())
        kept = wide.isfinite() & own.isfinite() & truth.isfinite()
        wide, own, truth = wide[kept], own[kept], truth[kept]
        if not wide.numel():
            continue
        for statistic, value in _statistics(wide, own, truth).items():
            worst[statistic] = max(worst[statistic], value)
    bad = counts[Count.NAN_ONE] > 0
    status = Status.NONFINITE if bad else Status.OK
    return Outcome(status, worst, counts, int.from_bytes(digest.digest()[:8], "little"), 1e-4)


def _statistics(
    out: torch.Tensor, own: torch.Tensor, truth: torch.Tensor
) -> dict[Statistic, float]:
    d, e = (out - own).abs(), (out - truth).abs()
    rms, truth_rms = own.square().mean().sqrt(), truth.square().mean().sqrt()
    return {
        Statistic.ALLCLOSE_CANDIDATE: float((d / (1 + out.abs())).max()),
        Statistic.ALLCLOSE_REFERENCE: float((d / (1 + own.abs())).max()),
        Statistic.MAX_ABS: float(d.max()),
        Statistic.MAX_REL: _ratio(d, own.abs()),
        Statistic.EITHER_OR: min(float(d.max()), _ratio(d, own.abs())),
        Statistic.GLOBAL: float(d.max() / (1 + own.abs().max())),
        Statistic.RMS: _ratio(d.max(), rms),
        Statistic.TRUTH_ALLCLOSE: float((e / (1 + truth.abs())).max()),
        Statistic.TRUTH_RMS: _ratio(e.max(), truth_rms),
        Statistic.TRUTH_RMS_ERROR: _ratio(e.square().mean().sqrt(), truth_rms),
    }


def _ratio(d: Any, scale: Any) -> float:
    ratio = torch.where(d > 0, d / scale, torch.zeros_like(d))
    return float(ratio.max())
