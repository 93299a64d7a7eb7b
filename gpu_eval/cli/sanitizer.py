"""``gpu-eval witness --sanitizer``: what compute-sanitizer says of a matrix's mutants."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gpu_eval.cli.output import absolute, show, table
from suiteopt.errors import UserError

if TYPE_CHECKING:
    from gpu_eval.campaign.sanitizer_run import Checked
    from gpu_eval.devices.sanitizer import Sanitizer
    from gpu_eval.devices.sanitizer_reports import Tool
    from gpu_eval.devices.sanitizer_settle import Finding
    from suiteopt.matrix.store import Matrix

DEADLINE = 120.0
"""Seconds that one implementation may take under a tool."""

DEFAULT_TOOLS = ("racecheck", "initcheck", "memcheck")


@dataclass(frozen=True)
class SanitizerRequest:
    """The options of the command."""

    directory: Path
    problems: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()
    everything: bool = False
    tools: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    deadline: float = DEADLINE
    corpus: tuple[Path, ...] = ()
    output: Path | None = None
    as_json: bool = False


def sanitize(request: SanitizerRequest) -> None:
    """Run the command; exit with code 1 if something has no result."""
    from gpu_eval.campaign.device_settings import cores
    from gpu_eval.campaign.sanitizer_choice import choose_inputs, choose_mutants
    from gpu_eval.campaign.sanitizer_run import Watch
    from gpu_eval.devices.cuda import CudaDevice
    from gpu_eval.devices.sanitizer import Sanitizer, find_sanitizer
    from gpu_eval.problems.loader import load_corpus
    from suiteopt.matrix.store import Matrix

    matrix = Matrix.open(request.directory)
    tools = _tools(request.tools)
    if request.everything and request.mutants:
        raise UserError("give --mutant or --all, not both")
    measured = matrix.meta.device
    if measured.get("name") != "cuda":
        raise UserError(
            f"{request.directory} was not measured on a GPU (its device is "
            f"'{measured.get('name', 'unknown')}'), so a GPU's sanitizer says nothing about it"
        )
    if request.output is not None:
        _check_output(request.output, request.directory)
    chosen = choose_mutants(matrix, request.problems, request.mutants, request.everything)
    corpus = load_corpus([Path(directory) for directory in absolute(request.corpus)])
    problems = {problem: corpus.problem(problem) for problem in chosen}
    inputs = choose_inputs(matrix, problems.values(), request.inputs)
    sanitizer = Sanitizer(find_sanitizer(), request.deadline)
    _say(f"compute-sanitizer {sanitizer.version}")
    device = CudaDevice()
    if measured.get("architecture") != device.architecture:
        raise UserError(
            f"the matrix was measured on {measured.get('architecture')} and this GPU is "
            f"{device.architecture}, which runs other machine code; use a GPU of that kind"
        )
    watch = Watch(sanitizer, device.architecture, tools, device.ordinal, cores(), _say)
    checked: list[Checked] = []
    answer = _answer(matrix, sanitizer, tools, checked, chosen)
    for one in watch.run(matrix, problems, chosen, inputs):
        checked.append(one)
        answer = _answer(matrix, sanitizer, tools, checked, chosen)
        if request.output is not None:
            _write(request.output, answer)  # what is known so far, should it be interrupted
    show(request.as_json, answer, *_lines(tools, checked))
    if not answer["complete"]:
        raise typer.Exit(1)


def _tools(names: Sequence[str]) -> "list[Tool]":
    from gpu_eval.devices.sanitizer_reports import Tool

    unknown = set(names) - {str(tool) for tool in Tool}
    if unknown:
        raise UserError(
            f"compute-sanitizer has no tool '{min(unknown)}'; choose from {', '.join(Tool)}"
        )
    return [Tool(name) for name in dict.fromkeys(names or DEFAULT_TOOLS)]


def _check_output(output: Path, directory: Path) -> None:
    if output.resolve().is_relative_to(directory.resolve()):
        raise UserError(
            f"{output} lies in the matrix, whose files stay as they are; write to another directory"
        )


def _write(output: Path, answer: Mapping[str, Any]) -> None:
    import json

    from suiteopt.matrix.files import write_atomic
    from suiteopt.matrix.jsonable import jsonable

    text = json.dumps(jsonable(answer), indent=2, allow_nan=False) + "\n"
    write_atomic(output, text.encode())


def _say(text: str) -> None:
    typer.echo(f"gpu-eval: {text}", err=True)


def _answer(
    matrix: "Matrix",
    sanitizer: "Sanitizer",
    tools: "Sequence[Tool]",
    checked: "Sequence[Checked]",
    chosen: Iterable[str],
) -> dict[str, Any]:
    rows = matrix.implementations.set_index("implementation")
    done = {one.problem for one in checked}
    unchecked = [problem for problem in chosen if problem not in done]
    problems = [
        {
            "problem": one.problem,
            "input": one.input,
            "left_out": {str(tool): reason for tool, reason in one.left_out.items()},
            "refused": dict(one.refused),
        }
        for one in checked
    ]
    mutants = [
        {
            "mutant": name,
            "problem": one.problem,
            "witness": str(rows.loc[name, "witness"]),
            "witness_how": str(rows.loc[name, "witness_how"]),
            "tools": {str(tool): _finding(finding) for tool, finding in findings.items()},
        }
        for one in checked
        for name, findings in one.findings.items()
    ]
    return {
        "matrix": str(matrix.path),
        "matrix_id": matrix.id,
        "sanitizer": {"path": str(sanitizer.executable), "version": sanitizer.version},
        "tools": [str(tool) for tool in tools],
        "complete": all(one.whole for one in checked) and not unchecked,
        "unchecked": unchecked,
        "problems": problems,
        "mutants": mutants,
    }


def _finding(finding: "Finding") -> dict[str, Any]:
    return {
        "verdict": str(finding.verdict),
        "count": finding.count,
        "at_least": finding.at_least,
        "first": finding.first,
    }


def _lines(tools: "Sequence[Tool]", checked: "Sequence[Checked]") -> list[Any]:
    from gpu_eval.devices.sanitizer_settle import SanitizerVerdict

    lines = table("Mutants under compute-sanitizer", "mutant", *map(str, tools), "first report")
    quiet = 0
    for one in checked:
        for name, findings in one.findings.items():
            if all(f.verdict == SanitizerVerdict.CLEAN for f in findings.values()):
                quiet += 1
                continue
            first = next((f.first for f in findings.values() if f.first), "")
            lines.add_row(name, *(_cell(findings.get(tool)) for tool in tools), first)
    remarks: list[Any] = [lines]
    if quiet:
        remarks.append(f"{quiet} more mutants without a report")
    for one in checked:
        remarks += [f"{one.problem}: {tool} left out, {why}" for tool, why in one.left_out.items()]
        by_reason: dict[str, list[str]] = {}
        for name, why in one.refused.items():
            by_reason.setdefault(why, []).append(name)
        for why, names in by_reason.items():
            others = f" and {len(names) - 1} more" if len(names) > 1 else ""
            remarks.append(f"{one.problem}: {names[0]}{others} did not run: {why}")
    return remarks


def _cell(finding: "Finding | None") -> str:
    from gpu_eval.devices.sanitizer_settle import SanitizerVerdict

    if finding is None:
        return "-"
    if finding.verdict == SanitizerVerdict.ACCUSED:
        return f"{finding.count}{'+' if finding.at_least else ''}"
    return "0" if finding.verdict == SanitizerVerdict.CLEAN else str(finding.verdict)
