"""Loads hidden files as KernelBench-Verified's harness does, and writes down what it saw.

Run as a script, in a process of its own: ``loader.py JOBS REPORT PASS``. It shares no code with
the exported files. JOBS is JSON: ``{"root", "max_bytes", "jobs": [{"problem", "hidden_file",
"problem_file", "members"}]}``. REPORT gets one JSON object a line, as things happen, so that a
process that dies has said where. PASS is 0 (everything) or 1 (again, from another state of the
global generator, contents only).
"""

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Say = Callable[..., None]

NEGLIGIBLE = 256
"""Inputs this many times below the limit are run without working out the output's size."""

SHARE = 0.75
"""Of the memory that is free when a loader starts, what a configuration may take by default."""

CHUNK = 1 << 24
"""Elements of an output that are looked at at a time."""

INIT_SEED = 42
"""Under which the harness draws a model's arguments and weights."""


def main(jobs_path: str, report_path: str, turn: int) -> None:
    """Load every job's file and report on it."""
    import torch

    with open(jobs_path, encoding="utf-8") as handle:
        order = json.load(handle)
    max_bytes = allowed_bytes(order["max_bytes"])
    with open(report_path, "a", encoding="utf-8") as report:

        def say(**event: Any) -> None:
            report.write(json.dumps(event) + "\n")
            report.flush()

        for job in order["jobs"]:
            say(event="begin", problem=job["problem"])
            torch.manual_seed(1000 + turn)
            state = torch.get_rng_state()
            try:
                check_file(order["root"], job, max_bytes, turn, say)
            except Exception as error:
                say_error(error, job["problem"], say)
            unchanged = bool(torch.equal(state, torch.get_rng_state()))
            say(event="end", problem=job["problem"], generator_unchanged=unchanged)


def check_file(root: str, job: dict[str, Any], max_bytes: int, turn: int, say: Say) -> None:
    """Load one hidden file, take its configurations one by one, and report on each."""
    import torch

    problem = job["problem"]
    configurations = load_hidden_inputs(os.path.join(root, job["hidden_file"]))
    context = execute(os.path.join(root, job["problem_file"]), {})
    state = torch.get_rng_state()
    layout = [describe(value) for value in on_meta(context["get_inputs"])]
    torch.set_rng_state(state)
    size = sum(item["bytes"] for item in layout)
    budget = Budget(size, output_bytes(context, size, max_bytes), max_bytes)
    # A harness asks for the length before it iterates when it is verbose, and after when it is not.
    first = turn == 1 or budget.is_near
    if first:
        say(event="count", problem=problem, count=len(configurations))
    model = None
    for index, inputs in taken(configurations, job["members"], budget, say, problem):
        event: dict[str, Any] = {
            "event": "configuration",
            "problem": problem,
            "index": index,
            "hashes": [content_hash(value) for value in inputs],
            "layout": difference([describe(value) for value in inputs], layout),
        }
        if turn == 0:
            if model is None:
                model = build_model(context)
            event["reference"] = run_reference(model, inputs)
        del inputs  # or it would be in memory while the next one is made
        say(**event)
    if not first:
        say(event="count", problem=problem, count=len(configurations))


def load_hidden_inputs(path: str) -> Any:
    """Execute a hidden file with torch and its own path, and nothing else, and call it once."""
    import torch

    context = execute(path, {"torch": torch, "__file__": path})
    return context["get_hidden_inputs"]()


def execute(path: str, context: dict[str, Any]) -> dict[str, Any]:
    """Execute a file in a namespace, and return that."""
    context["__builtins__"] = __builtins__
    with open(path, encoding="utf-8") as handle:
        exec(compile(handle.read(), path, "exec"), context)
    return context


class Budget(NamedTuple):
    """Bytes of one configuration's inputs and outputs, and how many there may be at once."""

    inputs: int
    outputs: int
    most: int

    @property
    def is_near(self) -> bool:
        """Whether the limit is near enough for sizes to be looked at."""
        return self.inputs * NEGLIGIBLE > self.most


def taken(
    configurations: Any, members: int, budget: Budget, say: Say, problem: str
) -> Iterator[tuple[int, Any]]:
    """Yield position and configuration, as far as the bytes allow; say which are skipped.

    The original configurations are drawn all at once, as published; members come one at a time.
    """

    def skip(indices: range, size: int) -> None:
        for index in indices:
            say(event="skipped", problem=problem, index=index, bytes=size, most=budget.most)

    if not budget.is_near:
        yield from numbered(iter(configurations))
        return
    count = len(configurations)
    kept = count - members
    one = budget.inputs + budget.outputs
    all_kept = max(kept, 0) * budget.inputs + budget.outputs
    if one > budget.most:
        skip(range(count), one)
    elif kept <= 0 or all_kept <= budget.most:
        yield from numbered(iter(configurations))
    else:
        skip(range(kept), all_kept)
        for index in range(kept, count):
            yield index, configurations[index]


def numbered(configurations: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Yield position and configuration, and keep none: ``enumerate`` keeps its last one."""
    index = 0
    while True:
        try:
            yield index, next(configurations)
        except StopIteration:
            return
        index += 1


def allowed_bytes(given: int | None) -> int:
    """Return how many bytes a configuration may take, and let this process have no more memory.

    By default a share of what is free; without a limit the system would end other processes.
    """
    free = free_bytes()
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = free if hard == resource.RLIM_INFINITY else min(free, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    return int(free * SHARE) if given is None else given


def free_bytes() -> int:
    """Return the memory that is free, by the system's and the control group's own account."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    with contextlib.suppress(OSError, ValueError, StopIteration), open("/proc/meminfo") as handle:
        line = next(line for line in handle if line.startswith("MemAvailable:"))
        free = int(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError):
        group = "/sys/fs/cgroup/memory"
        with open(f"{group}.max") as most, open(f"{group}.current") as current:
            free = min(free, int(most.read()) - int(current.read()))
    return max(free, 1 << 28)


def say_error(error: Exception, problem: str, say: Say) -> None:
    """Report why a file was not looked at to its end; want of memory is not the file's fault."""
    event = "memory" if is_memory(error) else "error"
    say(event=event, problem=problem, error=_sentence(error))


def is_memory(error: BaseException) -> bool:
    """Whether an error says that memory was used up: torch has no type for it on a CPU."""
    return isinstance(error, MemoryError) or "can't allocate memory" in str(error)


def on_meta(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Call a function for shapes and dtypes only; for real where it looks at values."""
    import torch

    try:
        with torch.device("meta"):
            return list(function(*arguments))
    except (RuntimeError, NotImplementedError, TypeError, ValueError):
        return list(function(*arguments))


def output_bytes(context: dict[str, Any], input_bytes: int, max_bytes: int) -> int:
    """Return the bytes of the reference's outputs, 0 where they are not needed or cannot be told.

    They are not needed where the inputs are far from the limit, or above it already; working
    them out costs seconds, because torch's shape rules for modules are slow to import.
    """
    import torch

    if input_bytes > max_bytes or input_bytes * NEGLIGIBLE <= max_bytes:
        return 0
    try:
        with torch.device("meta"), torch.no_grad():
            model = context["Model"](*context.get("get_init_inputs", list)())
            outputs = model(*context["get_inputs"]())
    except Exception:
        return 0
    return sum(describe(output)["bytes"] for output in flattened(outputs))


def build_model(context: dict[str, Any]) -> Any:
    """Build the reference as the harness does: arguments and weights under seed 42."""
    import torch

    state = torch.get_rng_state()
    torch.default_generator.manual_seed(INIT_SEED)
    arguments = context.get("get_init_inputs", list)()
    with torch.no_grad():
        torch.default_generator.manual_seed(INIT_SEED)
        model = context["Model"](*arguments)
    torch.set_rng_state(state)
    return model


def run_reference(model: Any, inputs: list[Any]) -> str:
    """Run the reference; return what is wrong with its output, or nothing."""
    import torch

    state = torch.get_rng_state()
    try:
        with torch.no_grad():
            outputs = flattened(model(*inputs))
    except Exception as error:
        if is_memory(error):
            raise
        return f"the reference raises {_sentence(error)}"
    finally:
        torch.set_rng_state(state)  # a live dropout draws, which is not the hidden file's doing
    for output in outputs:
        if output.is_floating_point():
            bad = sum(int((~torch.isfinite(part)).sum()) for part in output.flatten().split(CHUNK))
            if bad:
                return f"the reference gives {bad} non-finite elements of {output.numel()}"
    return ""


def flattened(value: Any) -> list[Any]:
    """Return all tensors of a nested output."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in flattened(item)]
    return []


def describe(value: Any) -> dict[str, Any]:
    """Return what can be said of a value without its content."""
    import torch

    if not isinstance(value, torch.Tensor):
        return {"type": type(value).__name__, "bytes": 0}
    return {
        "type": "Tensor",
        "shape": list(value.shape),
        "dtype": str(value.dtype),
        "bytes": value.numel() * value.element_size(),
    }


def difference(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> str:
    """Return how two layouts differ, or nothing."""
    if len(found) != len(expected):
        return f"{len(found)} values and not {len(expected)}"
    for index, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one != other:
            return f"value {index} is {_shown(one)} and not {_shown(other)}"
    return ""


def _shown(item: dict[str, Any]) -> str:
    return f"{item.get('dtype', item['type'])} {item.get('shape', '')}".strip()


def content_hash(value: Any) -> str:
    """Return the SHA-256 of a value's bytes."""
    import torch

    if not isinstance(value, torch.Tensor):
        return hashlib.sha256(repr(value).encode()).hexdigest()
    flat = value.detach().cpu().contiguous().reshape(-1)
    return hashlib.sha256(flat.view(torch.uint8).numpy().data).hexdigest()


def _sentence(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
