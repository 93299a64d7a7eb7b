"""The target ``flashinfer-bench``: workloads of a trace set, with their tensors.

A trace set's workloads are lines of ``workloads/**/*.jsonl``; each names a definition, its axes and
where its inputs come from. Every member becomes one workload whose tensors lie in a safetensors
file, made here from the recipes. Values, shapes (the axes) and any number of members are carried;
tensors that a suite calls parameters are inputs like the others. Dtypes must be the definition's.

The harness accepts an element whose absolute or relative error is within 1e-2 and rejects any
output that is not finite.
"""

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from suiteopt.errors import MissingExtraError, UserError
from suiteopt.export.options import positive
from suiteopt.export.target import RenderedFile, Target, template
from suiteopt.inputs.recipes import build
from suiteopt.matrix.schema import Need, Statistic
from suiteopt.protocols import load_oracle
from suiteopt.selection.constraints import Capabilities
from suiteopt.suite import Member, ProblemSuite, Suite

BENCHMARK = "flashinfer-bench"
BLOBS = "blob/workloads/suiteopt"
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "suiteopt/flashinfer-bench")
MEGABYTES = 256.0


class FlashInferBench(Target):
    """Workloads for flashinfer-bench.

    Parameters
    ----------
    megabytes : float
        Of all tensors of one member, at most; a checkout is no place for more.
    """

    name: ClassVar[str] = "flashinfer-bench"
    title: ClassVar[str] = "flashinfer-bench: workloads with tensors in safetensors files"
    home: ClassVar[str] = "workloads/suiteopt"
    touches: ClassVar[tuple[str, ...]] = (f"{BLOBS}/*/*.safetensors",)
    trials: ClassVar[str] = "one workload a member"
    draws: ClassVar[bool] = False
    memory: ClassVar[str] = "one member, on disk as well"

    def __init__(self, megabytes: float = MEGABYTES) -> None:
        self._megabytes = positive("number of megabytes", megabytes)

    @property
    def capabilities(self) -> Capabilities:
        """Values, parameters and shapes; members alone are judged."""
        return Capabilities(
            needs=frozenset({Need.VALUES, Need.PARAMETERS, Need.SHAPES}),
            oracle=BENCHMARK,
            member_limit=None,
            own_first=False,
            draws=False,
        )

    @property
    def comparator(self) -> Statistic:
        """Absolute or relative error."""
        return Statistic.EITHER_OR

    @property
    def tolerance(self) -> float | None:
        """1e-2, of the harness's default configuration."""
        return load_oracle(BENCHMARK).tolerance

    @property
    def options(self) -> Mapping[str, Any]:
        """The options in force."""
        return {"megabytes": self._megabytes}

    def recognise(self, repo: Path) -> None:
        """Look for definitions."""
        if not (repo / "definitions").is_dir():
            raise UserError(
                f"{repo} is no trace set of flashinfer-bench (it has no definitions/); give the "
                "directory that holds definitions/ and workloads/"
            )

    def hidden_path(self, problem: ProblemSuite) -> str:
        """``workloads/suiteopt/<definition>.jsonl``."""
        return f"{self.home}/{problem.name}.jsonl"

    def problem_path(self, repo: Path, problem: ProblemSuite) -> str:
        """The definition's file, found by its name."""
        return str(self._definition(repo, problem)[0].relative_to(repo).as_posix())

    def render(
        self,
        suite: Suite,
        repo: Path,
        original: Callable[[str], bytes | None],
        preserved: Callable[[str], str],
    ) -> tuple[RenderedFile, ...]:
        """Return one line a member, and its tensors."""
        rendered = []
        for problem in suite.problems:
            _, definition = self._definition(repo, problem)
            lines = []
            for number, member in enumerate(problem.members):
                blob = f"{BLOBS}/{problem.name}/{number}.safetensors"
                rendered.append(RenderedFile(blob, self._tensors(definition, problem, member)))
                lines.append(_workload(suite, definition, problem, member, blob))
            if lines:
                text = "".join(f"{line}\n" for line in lines)
                rendered.append(RenderedFile(self.hidden_path(problem), text.encode()))
        return tuple(rendered)

    def loader(self) -> Path:
        """The script that loads workloads with the package itself."""
        return template("flashinfer_loader.py")

    def _definition(self, repo: Path, problem: ProblemSuite) -> tuple[Path, dict[str, Any]]:
        if problem.benchmark != BENCHMARK:
            raise UserError(
                f"{problem.problem} is a problem of '{problem.benchmark}', and a trace set holds "
                f"definitions of '{BENCHMARK}'; measure the definition ('gpu-eval new')"
            )
        for path in sorted((repo / "definitions").rglob("*.json")):
            try:
                document = json.loads(path.read_bytes())
            except ValueError as error:
                raise UserError(f"{path} is no JSON: {error}") from error
            if isinstance(document, dict) and document.get("name") == problem.name:
                return path, document
        raise UserError(f"{repo} has no definition named {problem.name}; export into the trace set")

    def _tensors(
        self, definition: Mapping[str, Any], problem: ProblemSuite, member: Member
    ) -> bytes:
        try:
            import torch
            from safetensors.torch import save
        except ModuleNotFoundError as error:
            extra = "eval" if error.name == "torch" else "export"
            raise MissingExtraError(str(error.name), extra) from error

        recipes = {**member.values, **member.parameters}
        shapes = _shapes(definition, member)
        inputs = definition["inputs"]
        wanted = [name for name, spec in inputs.items() if spec["shape"] is not None]
        if sorted(wanted) != sorted(recipes) or len(wanted) != len(inputs):
            raise UserError(
                f"{member.input} has the tensors {', '.join(sorted(recipes))}, and the definition "
                f"{problem.name} takes {', '.join(inputs)}; measure this definition"
            )
        size = sum(4 * _product(shapes[name]) for name in wanted)
        if size > self._megabytes * 1e6:
            raise UserError(
                f"the tensors of {member.input} have {size / 1e6:.0f} MB, and {self._megabytes:g} "
                "are allowed; choose members at smaller shapes, or raise --megabytes"
            )
        made: dict[str, torch.Tensor] = {}
        for name in wanted:
            if inputs[name]["dtype"] != problem.dtype:
                raise UserError(
                    f"{name} of {problem.name} is {inputs[name]['dtype']}, and {problem.problem} "
                    f"was measured in {problem.dtype}; measure the definition in its dtype"
                )
            made[name] = build(recipes[name], shapes[name], member.seed, name).contiguous()
        return bytes(save(made))


def _shapes(definition: Mapping[str, Any], member: Member) -> dict[str, list[int]]:
    """Return each input's shape, from constant axes and the member's dimensions."""
    axes = definition["axes"]
    for name, axis in axes.items():
        size = member.shape.get(name)
        if axis["type"] == "const" and size not in (None, axis["value"]):
            raise UserError(
                f"{member.input} has {name} = {size}, which is {axis['value']} in the definition"
            )
        if axis["type"] == "var" and size is None:
            raise UserError(f"{member.input} does not say how long the axis {name} is")
    known = {name: axis.get("value", member.shape.get(name)) for name, axis in axes.items()}
    return {
        name: [int(known[axis]) for axis in spec["shape"] or ()]
        for name, spec in definition["inputs"].items()
    }


def _product(shape: list[int]) -> int:
    result = 1
    for size in shape:
        result *= size
    return result


def _workload(
    suite: Suite, definition: Mapping[str, Any], problem: ProblemSuite, member: Member, blob: str
) -> str:
    """Return one line: a trace without a solution."""
    axes = {
        name: member.shape[name]
        for name, axis in definition["axes"].items()
        if axis["type"] == "var"
    }
    name = hashlib.sha256(f"{suite.hash}:{member.input}".encode()).hexdigest()
    workload = {
        "uuid": str(uuid.uuid5(NAMESPACE, name)),
        "axes": axes,
        "inputs": {
            tensor: {"type": "safetensors", "path": blob, "tensor_key": tensor}
            for tensor in definition["inputs"]
        },
    }
    document = {
        "definition": problem.name,
        "solution": None,
        "workload": workload,
        "evaluation": None,
    }
    return json.dumps(document)
