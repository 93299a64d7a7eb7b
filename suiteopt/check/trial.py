"""One candidate on all configurations of its problem.

A candidate that dies or hangs is killed with all that it started, and a fresh process goes on with
the next configuration; one that was fatal twice is not run again.
"""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from suiteopt.check.candidates import Candidate
from suiteopt.check.child import Child, ChildError, ChildStartError, ChildTimeout
from suiteopt.check.plain import plain
from suiteopt.check.session import Session
from suiteopt.check.settings import Settings, scratch
from suiteopt.check.verdict import CandidateReport, Outcome, Status
from suiteopt.errors import UserError

FATAL_ENOUGH = 2
_OF_A_GPU = re.compile(
    rb"\b(triton|cupy|pycuda|tilelang|cutlass|cuda_sources|load_inline|__global__)\b|\bcuda\b"
)
_KEPT_VARIABLES = re.compile(
    r"PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TZ|LD_LIBRARY_PATH|LIBRARY_PATH|CPATH|CC|CXX|CUDA\w*|"
    r"NVIDIA\w*|NVCC\w*|TORCH\w*|TRITON\w*|OMP_\w+|MKL_\w+|PYTHONPATH|VIRTUAL_ENV|MAX_JOBS"
)


class Trial:
    """One candidate on all configurations of its problem.

    Its process starts at once, so that importing torch overlaps with what comes before; `close`
    ends it in any case.
    """

    def __init__(self, candidate: Candidate, settings: Settings) -> None:
        self._candidate = candidate
        self._settings = settings
        try:
            self._source = candidate.path.read_bytes()
        except OSError as error:
            raise UserError(f"{candidate.path} cannot be read ({error.strerror})") from error
        self._scratch = scratch("candidate")
        self._work = Path(self._scratch.name) / "work"
        self._file = Path(self._scratch.name) / candidate.path.name
        self._runner: Child | None = self._process()
        self._loaded = False
        self._unloaded: tuple[Status, str] | None = None
        self._fatal = 0
        self._drawn = False  # whether this process has the reference's drawn parameters

    def run(
        self, session: Session, progress: Callable[[str, int, int], None] | None = None
    ) -> CandidateReport:
        """Run it on everything that a referee has.

        Parameters
        ----------
        session : Session
        progress : callable, optional
            Is told each input as its turn comes: name, how many were begun, of how many.

        Raises
        ------
        UserError
            If the referee fails, or no process can be started.
        """
        self._session = session
        outcomes = []
        for number, planned in enumerate(session.plan):
            if progress is not None:
                progress(planned.name, number + 1, len(session.plan))
            outcomes.append(self._outcome(number))
        draws = session.draws
        return CandidateReport(
            self._candidate.name,
            self._candidate.problem.problem,
            tuple(outcomes[:draws]),
            tuple(outcomes[draws:]),
        )

    def close(self) -> None:
        """End its process and remove what it left."""
        self._end()
        self._scratch.cleanup()

    def _process(self) -> Child:
        self._work.mkdir(parents=True, exist_ok=True)
        self._file.write_bytes(self._source)  # a copy: it may do to its own file what it likes
        return Child("suiteopt.check.runner", self._work, _environment(self._work))

    def _outcome(self, number: int) -> Outcome:
        planned = self._session.plan[number]
        status, why, critical = self._judged(number)
        failed = status in (Status.NOT_LOADED, Status.RAISED)
        if failed and self._session.device == "cpu" and _OF_A_GPU.search(self._source):
            status, why = Status.NEEDS_GPU, f"torch sees no GPU here, and {why}"
        return replace(planned, status=status, why=why, critical=critical)

    def _judged(self, number: int) -> tuple[Status, str, float | None]:
        if self._unloaded is not None:
            return (*self._unloaded, None)
        if self._fatal >= FATAL_ENOUGH:
            return Status.CLOSED, "not run: it was fatal on two configurations", None
        # A new one each time, and not in the candidate's folder, which it may have removed.
        with scratch("exchange") as folder:
            return self._exchange(number, Path(folder))

    def _exchange(self, number: int, folder: Path) -> tuple[Status, str, float | None]:
        """Hand a configuration's bytes over, and what comes back to the referee."""
        everything = number >= self._session.draws and not self._drawn
        prepared = self._session.ask(
            op="prepare", configuration=number, directory=str(folder), everything=everything
        )
        if "cannot" in prepared:
            return Status.CANNOT, prepared["cannot"], None
        if "tampered" in prepared:
            return Status.REJECTED, prepared["tampered"], None
        output = folder / "outputs"
        answer = self._asked({"op": "run", "output": str(output), **prepared})
        if isinstance(answer, tuple):
            return (*answer, None)
        self._drawn = self._drawn or everything
        if "parameters" in answer:
            return Status.PARAMETERS, plain(answer["parameters"]), None
        if "outputs" not in answer:
            if self._session.device != "cpu":
                self._die()  # an error of a device stays with its process
            return Status.RAISED, plain(answer.get("error", "it gave no outputs")), None
        found = self._session.ask(
            op="judge", configuration=number, outputs=answer["outputs"], file=str(output)
        )
        status = Status.ACCEPTED if found["accepted"] else Status.REJECTED
        why = found["why"]
        if why and answer.get("bare"):
            why += "; it has no parameters, and the member sets some"
        return status, why, found["critical"]

    def _asked(self, request: dict[str, Any]) -> dict[str, Any] | tuple[Status, str]:
        """Return the candidate's answer, or what its silence means."""
        if not self._loaded:
            self._load(request["most_bytes"])
        if self._unloaded is not None:
            return self._unloaded
        assert self._runner is not None
        try:
            return self._runner.ask(request, self._settings.run_seconds)
        except ChildError as error:
            self._die()
            return _silence(error), str(error)

    def _load(self, most_bytes: int) -> None:
        """Execute the candidate's file in a fresh process."""
        request = {
            "op": "load",
            "reference": str(self._session.reference),
            "candidate": str(self._file),
            "device": self._session.device,
            "file_bytes": most_bytes,
        }
        if self._runner is None:
            self._runner = self._process()
        try:
            answer = self._runner.ask(request, self._settings.load_seconds)
        except ChildStartError as error:
            raise UserError(f"a candidate's process did not start: {error}") from error
        except ChildError as error:
            timeout = isinstance(error, ChildTimeout)
            status = Status.TIMEOUT if timeout else Status.NOT_LOADED
            self._unloaded = (status, f"it does not load: {error}")
            return
        if answer != {"loaded": True}:
            why = plain(answer.get("error", "no word that it did"))
            self._unloaded = (Status.NOT_LOADED, f"it does not load: {why}")
        self._loaded = True

    def _die(self) -> None:
        self._fatal += 1
        self._end()

    def _end(self) -> None:
        if self._runner is not None:
            self._runner.close()
        self._runner, self._loaded, self._drawn = None, False, False


def _silence(error: ChildError) -> Status:
    return Status.TIMEOUT if isinstance(error, ChildTimeout) else Status.DIED


def _environment(work: Path) -> dict[str, str]:
    """Return what a candidate sees of the environment: no secrets, and caches of its own.

    What one candidate compiles must not be what the next one loads.
    """
    kept = {key: value for key, value in os.environ.items() if _KEPT_VARIABLES.fullmatch(key)}
    return {
        **kept,
        "TORCH_EXTENSIONS_DIR": str(work / "torch_extensions"),
        "TORCHINDUCTOR_CACHE_DIR": str(work / "inductor"),
        "TRITON_CACHE_DIR": str(work / "triton"),
    }
