"""Loads workloads with flashinfer-bench itself; see `harness_loader`."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from suiteopt.export.templates import kernelbench_verified_loader as base
from suiteopt.export.templates.harness_loader import Opened, Root, run


def open_job(root: Root, job: Mapping[str, Any]) -> Opened:
    """Read the trace set, and make the inputs of this export's workloads, as a benchmark does."""
    utilities = importlib.import_module("flashinfer_bench.bench.utils")
    data = importlib.import_module("flashinfer_bench.data")
    traces = data.TraceSet.from_path(root.path)
    name = Path(job["hidden_file"]).stem
    definition = traces.definitions[name]
    blobs = "blob/workloads/suiteopt/"
    workloads = [
        trace.workload
        for trace in traces.workloads[name]
        if any(
            getattr(spec, "path", "").startswith(blobs) for spec in trace.workload.inputs.values()
        )
    ]
    namespace: dict[str, Any] = {}
    exec(definition.reference, namespace)

    def entries() -> Iterator[tuple[int, Sequence[Any]]]:
        for index, workload in enumerate(workloads):
            tensors = utilities.load_safetensors(definition, workload, Path(root.path))
            made = utilities.gen_inputs(definition, workload, device="cpu", safe_tensors=tensors)
            yield index, made

    def reference(inputs: Sequence[Any], index: int) -> str:
        return base.run_reference(namespace["run"], list(inputs))

    return Opened(len(workloads), entries(), None, reference, checks_layout=True)


def _specs(trace: Any) -> Sequence[Any]:
    return list(trace.workload.inputs.values())


if __name__ == "__main__":
    run(open_job)
