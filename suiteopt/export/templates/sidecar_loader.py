"""Loads the hardened package as KernelBench's harness does; see `harness_loader`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suiteopt.export.templates import kernelbench_verified_loader as base
from suiteopt.export.templates.harness_loader import Opened, Root, layout_of, run, size_of


def open_job(root: Root, job: Mapping[str, Any]) -> Opened:
    """Find the problem by its text, as the package does when the harness calls it."""
    import importlib

    # The package alone: the harness around it imports more than a verification needs.
    with root.importing("src/kernelbench"):
        package = importlib.import_module("hardened")
        with open(root.locate(job["problem_file"]), encoding="utf-8") as handle:
            source = handle.read()
        problem = package.find_problem(source)
    if problem is None or problem.problem != job["problem"]:
        raise RuntimeError(f"the package does not know {job['problem_file']}")
    context: dict[str, Any] = {}
    exec(source, context)
    layout = layout_of(context["get_inputs"])
    size = size_of(context, layout)
    model: list[Any] = []

    def built() -> Any:
        if not model:
            model.append(base.build_model(context))
        return model[0]

    def members() -> Iterator[tuple[int, list[Any]]]:
        # Classes know the order of forward's arguments as their instances do.
        names = problem.names(context["Model"])
        if names is None and any(len(member.values) > 1 for member in problem):
            raise RuntimeError("the order of the tensors is not known")
        for index, member in enumerate(problem):
            yield index, member.inputs(context["get_inputs"], names)

    def reference(inputs: Sequence[Any], index: int) -> str:
        with problem.members[index].parameters_on(built()):
            return base.run_reference(built(), list(inputs))

    return Opened(len(problem), members(), layout, reference, size=size)


if __name__ == "__main__":
    run(open_job)
