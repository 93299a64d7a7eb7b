"""Loads references as MultiKernelBench's evaluation does; see `harness_loader`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suiteopt.export.templates import kernelbench_verified_loader as base
from suiteopt.export.templates.harness_loader import (
    Opened,
    Root,
    layout_of,
    reference_of,
    run,
    size_of,
)


def open_job(root: Root, job: Mapping[str, Any]) -> Opened:
    """Execute the hardened copy with its path, and take its groups."""
    path = root.locate(job["details"]["overlay"])
    with open(path, encoding="utf-8") as handle:
        source = f"__file__ = {path!r}\n" + handle.read()
    context: dict[str, Any] = {}
    exec(source, context)
    groups = context["get_input_groups"]()
    layout = layout_of(context["get_inputs"])
    own = job["details"]["own"]

    def entries() -> Iterator[tuple[int, Sequence[Any]]]:
        yield from base.numbered(iter(groups))

    return Opened(
        len(groups),
        entries(),
        layout,
        reference_of(context),
        unseeded=own,
        size=size_of(context, layout),
    )


if __name__ == "__main__":
    run(open_job)
