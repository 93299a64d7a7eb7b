"""From rules to faults: ids, spans, and no text twice."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gpu_eval.mutation.contexts import build_contexts
from gpu_eval.mutation.fault import Fault
from gpu_eval.mutation.launch import PlanContext
from gpu_eval.mutation.parser import make_span, parse_all
from gpu_eval.mutation.reach import reachable
from gpu_eval.mutation.rule import LaunchRule, Rule
from gpu_eval.problems.definition import ParameterSpec, Problem, Substrate, TensorSpec
from gpu_eval.problems.plan import ArgumentType, LaunchPlan
from gpu_eval.problems.signatures import read_source


def source_faults(
    problem: Problem,
    substrate: Substrate,
    files: Mapping[str, str],
    plan: LaunchPlan,
    rules: Sequence[Rule | LaunchRule],
) -> Iterator[Fault]:
    """Yield the faults of all files; see `gpu_eval.mutation.catalogue.faults`."""
    parsed = parse_all(files)
    kernels = {site.launch.kernel for site in PlanContext.of(plan).launches()}
    live = reachable(parsed, kernels)
    for name, context in build_contexts(parsed).items():
        file = context.file
        prefix = f"{problem.id}:{_file_id(problem, substrate, name)}"
        seen = {file.data}
        for rule in rules:
            if not isinstance(rule, Rule):
                continue
            for ordinal, edit in enumerate(sorted(set(rule.sites(context))), start=1):
                result = file.data[: edit.start] + edit.after.encode() + file.data[edit.end :]
                if result in seen or not live(name, edit.start):
                    continue
                seen.add(result)
                yield Fault(
                    id=f"{prefix}:{rule.name}:{ordinal}",
                    problem=problem.id,
                    substrate=substrate.name,
                    rule=rule.name,
                    family=rule.family,
                    span=file.span(edit.start, edit.end),
                    before=file.text(edit.start, edit.end),
                    after=edit.after,
                )


def _file_id(problem: Problem, substrate: Substrate, name: str) -> str:
    """Return how ids name a file: with its substrate where several substrates share it."""
    users = [s for s in problem.substrates if name == s.source or name in s.headers]
    return f"{substrate.name}/{name}" if len(users) > 1 else name


def constant_pointers(files: Mapping[str, str]) -> dict[str, frozenset[int]]:
    """Return of each kernel the positions of its pointers to what it does not write."""
    return {
        one.kernel: frozenset(
            index
            for index, parameter in enumerate(one.parameters)
            if parameter.type is ArgumentType.POINTER
            and "const" in parameter.text.partition("*")[0].split()
        )
        for name, text in files.items()
        for one in read_source(Path(name), text).signatures
    }


def launch_faults(
    problem: Problem,
    substrate: Substrate,
    files: Mapping[str, str],
    plan: LaunchPlan,
    rules: Sequence[Rule | LaunchRule],
) -> Iterator[Fault]:
    """Yield the faults of a launch plan; see `gpu_eval.mutation.catalogue.faults`."""
    tensors: list[TensorSpec | ParameterSpec] = [*problem.inputs, *problem.parameters]
    context = PlanContext.of(
        plan,
        {tensor.name: tensor.shape for tensor in tensors},
        tuple(d.name for d in problem.dimensions),
        {output.name: output.shape for output in problem.outputs},
        constant_pointers(files),
    )
    data, file = context.text.encode(), f"{substrate.name}.plan"
    seen = {plan}
    for rule in rules:
        if not isinstance(rule, LaunchRule):
            continue
        for ordinal, edit in enumerate(rule.sites(context), start=1):
            if edit.plan in seen:
                continue
            seen.add(edit.plan)
            yield Fault(
                id=f"{problem.id}:{file}:{rule.name}:{ordinal}",
                problem=problem.id,
                substrate=substrate.name,
                rule=rule.name,
                family=rule.family,
                span=make_span(file, data, edit.start, edit.end),
                before=data[edit.start : edit.end].decode(),
                after=edit.after,
                plan=edit.plan,
            )
