"""Check hidden files against the reference models: generate_hidden_inputs.py --validate."""

import argparse
import os
import runpy
import sys

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from src.eval import hidden_path, load_hidden_inputs  # noqa: E402


def validate(definition: str, path: str) -> list[str]:
    """Return what is wrong with each configuration of a hidden file."""
    problem = runpy.run_path(definition)
    model = problem["Model"](*problem["get_init_inputs"]()).eval()
    wrong = []
    configurations = load_hidden_inputs(path)
    for number, values in enumerate(configurations, start=1):
        try:
            with torch.no_grad():
                output = model(*values)
        except Exception as error:
            wrong.append(f"configuration {number}: {error}")
            continue
        if not torch.isfinite(output).all():
            wrong.append(f"configuration {number}: the reference is not finite")
    print(f"{path}: {len(configurations) - len(wrong)} of {len(configurations)} valid")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--validate", action="store_true", required=True)
    parser.add_argument("--level", type=int, default=1)
    parser.add_argument("--pid", type=int)
    options = parser.parse_args()
    directory = os.path.join(ROOT, "KernelBench", f"level{options.level}")
    wrong = []
    for name in sorted(os.listdir(directory), key=lambda text: int(text.split("_")[0])):
        number = int(name.split("_")[0])
        path = hidden_path(options.level, number)
        if path is not None and options.pid in (None, number):
            wrong += validate(os.path.join(directory, name), path)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
