"""Loads overlays as KernelBench's harness does, trial by trial; see `harness_loader`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suiteopt.export.templates.harness_loader import (
    Opened,
    Root,
    layout_of,
    reference_of,
    run,
    size_of,
)

INIT_SEED = 42


def open_job(root: Root, job: Mapping[str, Any]) -> Opened:
    """Execute the overlay's text in an empty namespace, and draw under the trials' seeds."""
    import torch

    with open(root.locate(job["hidden_file"]), encoding="utf-8") as handle:
        overlay = handle.read()
    with open(root.locate(job["problem_file"]), encoding="utf-8") as handle:
        published = handle.read()
    if not overlay.startswith(published):
        raise RuntimeError("the overlay was made for another version of the definition")
    context: dict[str, Any] = {}
    exec(overlay, context)
    original: dict[str, Any] = {}
    exec(published, original)
    layout = layout_of(original["get_inputs"])
    size = size_of(original, layout)
    if size < 1 << 28:
        _require_timing(context, original)
    # The first trials' seeds, as the harness draws them.
    torch.manual_seed(INIT_SEED)
    seeds = [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(job["members"])]

    def drawn(seed: int) -> Sequence[Any]:
        state = torch.get_rng_state()
        torch.manual_seed(seed)
        inputs = context["get_inputs"]()
        torch.set_rng_state(state)
        return [_on_cpu(value) for value in inputs]

    def trials() -> Iterator[tuple[int, Sequence[Any]]]:
        for index, seed in enumerate(seeds):
            yield index, drawn(seed)

    return Opened(len(seeds), trials(), layout, reference_of(original), size=size)


def _require_timing(context: Mapping[str, Any], original: Mapping[str, Any]) -> None:
    """Under the timing seed the overlay must draw what the published file draws."""
    import torch

    torch.manual_seed(INIT_SEED)
    timed = context["get_inputs"]()
    torch.manual_seed(INIT_SEED)
    published = original["get_inputs"]()
    for one, other in zip(timed, published, strict=True):
        same = torch.equal(one, other) if isinstance(other, torch.Tensor) else one == other
        if not same:
            raise RuntimeError("the input that is timed is not the published one")


def _on_cpu(value: Any) -> Any:
    import torch

    return value.cpu() if isinstance(value, torch.Tensor) else value


if __name__ == "__main__":
    run(open_job)
