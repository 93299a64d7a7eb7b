"""What a model is shown of every problem, made by a benchmark's own functions, as one hash each.

In a process of its own: ``python -m experiments.real_exports_prompts TARGET CHECKOUT``. It prints
one JSON object. What the benchmarks import and no prompt needs (clients of language models, bars of
progress) is replaced by empty modules where it is not installed.
"""

import hashlib
import importlib
import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

UNNEEDED = (
    "anthropic",
    "dotenv",
    "google",
    "google.genai",
    "litellm",
    "openai",
    "together",
    "tqdm",
    "transformers",
)


LEVELS = (1, 2)


def kernelbench(root: Path) -> Iterator[tuple[str, str]]:
    sys.path.insert(0, str(root / "src"))
    dataset = importlib.import_module("kernelbench.dataset").construct_kernelbench_dataset
    made = importlib.import_module("kernelbench.prompt_constructor_toml").get_prompt_for_backend
    for level in LEVELS:
        for problem in dataset(level):
            shown = "".join(made(problem.code, one) for one in ("cuda", "triton"))
            yield f"{level}/{problem.name}", shown


def kernelbench_verified(root: Path) -> Iterator[tuple[str, str]]:
    sys.path.insert(0, str(root))
    dataset = importlib.import_module("src.dataset").construct_kernelbench_dataset
    made = importlib.import_module("src.prompt_constructor")
    for level in LEVELS:
        for path in map(Path, dataset(level)):
            text = path.read_text(encoding="utf-8")
            shown = made.prompt_generate_custom_cuda_from_prompt_template(text)
            yield f"{level}/{path.name}", shown


def multikernelbench(root: Path) -> Iterator[tuple[str, str]]:
    sys.path.insert(0, str(root))
    importlib.import_module("prompt_generators.cuda_add_shot")
    registry = importlib.import_module("prompt_generators.prompt_registry").PROMPT_REGISTRY
    for operation in importlib.import_module("dataset").dataset:
        yield operation, registry["cuda"]["add_shot"].generate(operation)


def robust_kbench(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the two excerpts of a task's file that a task object has; it makes no prompts."""
    sys.path.insert(0, str(root))
    task = importlib.import_module("robust_kbench.kernel_task").KernelTask
    for level in LEVELS:
        for place in sorted((root / f"tasks/kernelbench/level_{level}").iterdir()):
            if (place / "func_forward.py").exists():
                made = task(str(place))
                yield f"{level}/{place.name}", f"{made.forward_fn_str}\n{made.operation_info}"


MAKERS: dict[str, Callable[[Path], Iterator[tuple[str, str]]]] = {
    "kernelbench": kernelbench,
    "kernelbench-sidecar": kernelbench,
    "kernelbench-verified": kernelbench_verified,
    "multikernelbench": multikernelbench,
    "robust-kbench": robust_kbench,
}


def main(target: str, root: Path) -> None:
    for name in UNNEEDED:
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = mock.MagicMock()
    sys.modules.setdefault("tomli", tomllib)  # the same, before Python 3.11
    sys.dont_write_bytecode = True
    os.chdir(root)
    out, sys.stdout = sys.stdout, sys.stderr  # some tell what they do
    hashes = {
        name: hashlib.sha256(text.encode()).hexdigest() for name, text in MAKERS[target](root)
    }
    print(json.dumps(hashes), file=out)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
