"""``gpu-eval mutants``: the faults, counted or shown as diffs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gpu_eval.campaign.device_settings import cores, resolved_name
from gpu_eval.cli.output import (
    Corpora,
    DeviceName,
    Json,
    Levels,
    Problems,
    absolute,
    show,
    table,
)
from suiteopt.console import stderr
from suiteopt.errors import UserError

if TYPE_CHECKING:
    from gpu_eval.problems.definition import Problem

CLASSES = ("stillborn", "equivalent", "duplicate", "valid")

app = typer.Typer(help="List and show faults.", no_args_is_help=True)


@app.command("list")
def list_mutants(
    problem: Problems = None,
    level: Levels = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All problems, and compile their faults.")
    ] = False,
    compile_them: Annotated[
        bool | None,
        typer.Option(
            "--compile/--no-compile",
            help="Compile the faults and sort out those that do not compile or are equal; about "
            "25 a second and core. Given with --all unless --no-compile is.",
        ),
    ] = None,
    profile: Annotated[
        str, typer.Option("--profile", help="When compiling: whose shapes plans are resolved on.")
    ] = "demo",
    device: DeviceName = "auto",
    corpus: Corpora = None,
    as_json: Json = False,
) -> None:
    """Count the faults by problem and family; name them where --problem is given.

    What compiling finds out (stillborn, equivalent, duplicate, valid) is null unless faults are
    compiled.
    """
    from gpu_eval.campaign.implementations import implementations
    from gpu_eval.campaign.plan import find_profile, of_levels
    from gpu_eval.devices.registry import check_name
    from suiteopt.matrix.schema import Family, Kind

    if everything and problem:
        raise UserError("give either --problem or --all, not both")
    if level and problem:
        raise UserError("give either --problem or --level, not both")
    find_profile(profile)
    check_name(device)
    problems = of_levels(_choose(problem, corpus), level or ())
    listed = {p.id: [i for i in implementations(p) if i.kind == Kind.MUTANT] for p in problems}
    faults = [i.fault for group in listed.values() for i in group if i.fault is not None]
    by_family = Counter(str(fault.family) for fault in faults)
    answer: dict[str, Any] = {
        "problems": len(problems),
        "substrates": sum(len(p.substrates) for p in problems),
        "rules": len({fault.rule for fault in faults}),
        "by_family": {str(family): by_family[str(family)] for family in Family},
        "generated": len(faults),
        **dict.fromkeys(CLASSES),
    }
    if everything if compile_them is None else compile_them:
        answer |= _compiled(problems, {p.id: len(listed[p.id]) for p in problems}, profile, device)
    if problem:
        answer["mutants"] = [
            {
                "mutant": fault.id,
                "rule": fault.rule,
                "family": str(fault.family),
                "file": fault.span.file,
                "line": fault.span.line,
                "before": fault.before,
                "after": fault.after,
            }
            for fault in faults
        ]
    families = [str(family) for family in Family]
    lines = table("Faults", "problem", *(f"{family}#" for family in families), "all#")
    for name, group in listed.items():
        counts = Counter(str(i.fault.family) for i in group if i.fault is not None)
        lines.add_row(name, *(str(counts[family]) for family in families), str(len(group)))
    lines.add_row("all", *(str(by_family[family]) for family in families), str(len(faults)))
    named = table("", "mutant", "line#", "before", "after")
    for fault in faults if problem else ():
        named.add_row(fault.id, str(fault.span.line), _short(fault.before), _short(fault.after))
    further = [f"{key}: {answer[key]}" for key in CLASSES if answer[key] is not None]
    show(as_json, answer, lines, *([named] if problem else []), *further)


@app.command("show")
def show_mutant(
    mutant: Annotated[str, typer.Argument(help="Id of a mutant, as 'mutants list' gives it.")],
    corpus: Corpora = None,
    as_json: Json = False,
) -> None:
    """Show a fault as a diff."""
    from gpu_eval.campaign.implementations import implementations
    from gpu_eval.mutation.diff import unified_diff

    for candidate in _choose(None, corpus):
        if not mutant.startswith(f"{candidate.id}:"):
            continue
        listed = {i.id: i for i in implementations(candidate)}
        found = listed.get(mutant)
        if found is None or found.fault is None:
            break
        original = listed[found.substrate]
        assert original.source is not None
        assert original.plan is not None
        diff = unified_diff(found.fault, original.source.files, original.plan)
        fault = found.fault
        answer = {
            "mutant": fault.id,
            "problem": fault.problem,
            "substrate": fault.substrate,
            "rule": fault.rule,
            "family": str(fault.family),
            "locked": found.locked,
            "diff": diff,
        }
        show(as_json, answer, diff.rstrip("\n"))
        return
    raise UserError(
        f"there is no mutant '{mutant}'; 'gpu-eval mutants list --problem ID' names them"
    )


def _choose(wanted: Sequence[str] | None, corpus: Corpora) -> "list[Problem]":
    from gpu_eval.problems.loader import load_corpus

    known = load_corpus([Path(directory) for directory in absolute(corpus)])
    return [known.problem(name) for name in dict.fromkeys(wanted or known.problems)]


def _compiled(
    problems: "list[Problem]", mutants: Mapping[str, int], profile: str, device: str
) -> dict[str, Any]:
    """Compile all mutants and count what they are on the shapes of a profile."""
    from gpu_eval.campaign.survey import survey
    from gpu_eval.devices.registry import open_device

    opened = open_device(device)
    counts: Counter[str] = Counter()
    done, total = 0, sum(mutants.values())
    for problem in problems:
        if len(problems) > 1:  # all of them take minutes
            stderr().print(f"gpu-eval: compiled {done} of {total} faults; next {problem.id}")
        counts.update(survey([problem], profile, opened, cores()))
        done += mutants[problem.id]
    return {
        **{name: counts[name] for name in CLASSES},
        "compiled": {"device": resolved_name(opened), "profile": profile},
    }


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:37]}..."
