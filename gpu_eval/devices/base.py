"""The narrow interface between a campaign and whatever runs kernels.

A `Device` is described and compiled for in any process; a `Session` owns the device in one
worker process and may die with it. Two implementations are meant: ``host`` (g++ and fibers) and
``cuda`` (NVRTC and pycuda).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.matrix.schema import Count, Statistic, Status

if TYPE_CHECKING:
    from torch import Tensor

ValueOf = Callable[[Mapping[str, "Tensor"], Mapping[str, "Tensor"]], Mapping[str, "Tensor"]]
"""Named tensors and integer outputs to the values that these choose, by output."""


@dataclass(frozen=True)
class KernelSource:
    """One implementation to compile.

    Attributes
    ----------
    id : str
        The implementation's id.
    files : mapping of str to str
        File name to text; headers included.
    main : str
        Which of them is the translation unit; the others are what it includes.
    kernels : tuple of str
        Names of the ``__global__`` functions that its plan launches.
    flags : tuple of str
        Further compile options.
    """

    id: str
    files: Mapping[str, str]
    main: str
    kernels: tuple[str, ...]
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Binary:
    """What came of a `KernelSource`.

    Attributes
    ----------
    id : str
    path : Path or None
        The loadable file (shared by all implementations of a unit); None if it did not compile.
    symbol : str
        How to find the implementation inside the file (its namespace).
    kernels : tuple of str
    machine_code : str
        Hash of the machine code of all its kernels, attributes and constants; equal hashes are
        equal behaviour under equal plans. Empty if it did not compile.
    error : str
        The compiler's first message, empty if it compiled.
    """

    id: str
    path: Path | None
    symbol: str
    kernels: tuple[str, ...]
    machine_code: str
    error: str = ""


@dataclass(frozen=True)
class Case:
    """One input, ready to run: tensors and what they should give.

    Attributes
    ----------
    key : str
        Unique for its content; a session keeps what it has already bound.
    tensors : mapping of str to Tensor
        Inputs and parameters, contiguous, in the benchmark's dtype, on the CPU or the device.
    reference : mapping of str to Tensor
        Outputs of the benchmark's own reference in its own dtype.
    truth : mapping of str to Tensor
        Outputs of the reference in fp64.
    value_of : callable or None
        For integer outputs: what they choose, in fp64; see `gpu_eval.problems.definition.Problem`.
    """

    key: str
    tensors: Mapping[str, "Tensor"]
    reference: Mapping[str, "Tensor"]
    truth: Mapping[str, "Tensor"]
    value_of: ValueOf | None = None


@dataclass(frozen=True)
class Outcome:
    """What one run of one implementation on one case gave.

    Attributes
    ----------
    status : Status
    statistics : mapping of Statistic to float
        Exact (not yet rounded); empty for exceptions.
    counts : mapping of Count to int
        Empty for exceptions.
    output_hash : int
        64-bit hash of the output's bits: equal bits, equal hash.
    seconds : float
        Time of the launches alone.
    divergent : bool
        A barrier or full-mask shuffle was reached by only part of its threads (information,
        not a kill).
    message : str
        For exceptions: what happened.
    """

    status: Status
    statistics: Mapping[Statistic, float] = field(default_factory=dict)
    counts: Mapping[Count, int] = field(default_factory=dict)
    output_hash: int = 0
    seconds: float = 0.0
    divergent: bool = False
    message: str = ""


class DeviceLostError(Exception):
    """A run took the device with it: its outcome is known, its session is of no further use.

    A sticky CUDA error poisons the context and a hung kernel cannot be stopped; only a new
    process helps. The worker records ``outcome`` and makes room for a fresh one.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message or outcome.status.value)
        self.outcome = outcome


class BatchLostError(DeviceLostError):
    """The device was lost while several jobs were under way: which of them did it is not known."""


@dataclass(frozen=True)
class Job:
    """One run among several that a session is given at once; see `Session.run`."""

    binary: Binary
    plan: ResolvedPlan
    schedule: int = 0
    deadline: float = 2.0


class Session(ABC):
    """A device in use by one process. A context manager; not thread-safe."""

    @property
    def lanes(self) -> int:
        """How many jobs `run_many` has under way at the same time, on the current case."""
        return 1

    @abstractmethod
    def bind(self, case: Case) -> None:
        """Make a case current: its tensors in the arena, its references ready to compare."""

    @abstractmethod
    def run(
        self, binary: Binary, plan: ResolvedPlan, *, schedule: int = 0, deadline: float = 2.0
    ) -> Outcome:
        """Poison the outputs, run all launches of a plan on the current case, and judge.

        Parameters
        ----------
        binary : Binary
            A compiled implementation; loaded on first use and kept.
        plan : ResolvedPlan
        schedule : int
            Which order of warps and blocks (0 the natural one; 1 reversed warps on the host).
        deadline : float
            Seconds after which the run counts as a timeout.

        Returns
        -------
        Outcome
            An unwritten output is run again over the stale correct result, and the statistics
            are those of that second run.

        Raises
        ------
        DeviceLostError
            If the run ended in an exception that only a new process gets over.
        """

    def run_many(self, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """Run several jobs on the current case; their outcomes are those that `run` gives.

        Parameters
        ----------
        jobs : sequence of Job
            Any number, of which `lanes` are under way at the same time; their deadlines count from
            when each can have begun.

        Returns
        -------
        sequence of Outcome
            In the order of the jobs.

        Raises
        ------
        DeviceLostError
            If there was one job, and it took the device with it.
        BatchLostError
            If the device was lost, and there were several.
        """
        try:
            return [
                self.run(job.binary, job.plan, schedule=job.schedule, deadline=job.deadline)
                for job in jobs
            ]
        except DeviceLostError as lost:
            raise blamed(lost, jobs) from lost

    @abstractmethod
    def judge(self, outputs: Mapping[str, "Tensor"]) -> Outcome:
        """Compare given outputs (of a torch control or null mutant) with the current case."""

    def judge_many(self, several: "Sequence[Mapping[str, Tensor]]") -> Sequence[Outcome]:
        """Compare several given outputs with the current case; the outcomes are `judge`'s."""
        return [self.judge(outputs) for outputs in several]

    @abstractmethod
    def outputs(self) -> Mapping[str, "Tensor"]:
        """Copy the outputs of the last run that ended without an exception."""

    @abstractmethod
    def close(self) -> None:
        """Free everything."""

    def lost(self) -> bool:
        """Tell whether something has gone wrong that only a new process gets over."""
        return False

    def checksum(self) -> int:
        """Return a number that changes when the current case's tensors or references do.

        0 always, where a run cannot reach them.
        """
        return 0

    def trespassed(self) -> bool:
        """Look at all memory that belongs to nobody: whether something was written there.

        Unseen so far, since the last look. What is found is mended, and the run that does it again
        on this case is `Status.OUT_OF_BOUNDS`. False always, where there is no such memory.
        """
        return False

    def spare(self) -> bool:
        """Give back memory that is held but not needed; whether there was any."""
        return False

    def forget(self, key: str) -> None:  # noqa: B027 - a session may copy what it binds
        """Let go of a case that was bound, since its tensors are no longer to be trusted."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def blamed(lost: DeviceLostError, jobs: Sequence[Job]) -> DeviceLostError:
    """Return the error that `Session.run_many` raises when the device is lost."""
    return lost if len(jobs) == 1 else BatchLostError(lost.outcome)


class Device(ABC):
    """A kind of machine that compiles and runs kernels."""

    name: str
    torch_device: str
    schedules: int
    """How many schedules `Session.run` knows."""
    deadline_floor: float = 0.25
    """Seconds that every run may take, whatever its substrate's own time."""
    isolated: bool = False
    """Whether a run cannot corrupt its worker's memory, so that what a lost worker has measured
    stands."""
    flushes_atomics: bool = False
    """Whether fp32 atomics take subnormal numbers for zero; see `gpu_eval.problems.flushed`."""
    standby: int = 0
    """Workers that wait with the device taken, to step in for lost ones."""

    def parts(self) -> "Sequence[Device]":
        """Return the devices that workers take turns on; several where a machine has several."""
        return (self,)

    def warm(self) -> None:  # noqa: B027 - most devices have nothing to wait for
        """Do what the first run in a process would have to wait for."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """Return model, compiler, versions and options, as recorded in ``matrix.json``."""

    @abstractmethod
    def compile(self, sources: Sequence[KernelSource], cache: Path, jobs: int) -> Sequence[Binary]:
        """Compile many implementations in few units; binaries cached by content.

        A source that does not compile gives a `Binary` with ``path`` None and its error; the
        others of its unit are not affected. The order is that of ``sources``.
        """

    @abstractmethod
    def open(self) -> Session:
        """Take the device in this process.

        Raises
        ------
        UserError
            If there is none.
        """
