"""Runs one of KernelBench's evaluation scripts on the hardened problem files beside this one.

    python suiteopt_overlay/evaluate.py scripts/eval_from_generations.py dataset_src=local ...

No file of the harness is changed: while the script runs, the data set in the checkout is given the
text of the overlay for every problem that has one. A script that makes prompts is refused, because
a model would then see the members; so is the data set on a hub, which knows no overlay.
"""

import importlib
import os
import runpy
import sys
from typing import Any, NoReturn

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(HERE)


def overlay_of(level: int, name: str) -> str | None:
    """Return the overlay's text for a problem file of a level, or None."""
    path = os.path.join(HERE, "KernelBench", f"level{level}", name)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as handle:
        return handle.read()


def install() -> None:
    """Give the local data set the overlay's texts, and refuse the one on a hub."""
    dataset = importlib.import_module("kernelbench.dataset")
    local: Any = dataset.LocalKernelBenchDataset
    load = local._load_problems

    def load_hardened(self: Any) -> None:
        load(self)
        hardened = 0
        for problem in self._problems.values():
            text = overlay_of(problem.level, problem.name)
            if text is not None:
                problem.code = text
                hardened += 1
        print(f"[suiteopt] {hardened} of {len(self._problems)} problems are hardened")

    def refuse(*_arguments: Any, **_named: Any) -> NoReturn:
        raise RuntimeError(
            "suiteopt: the data set on a hub knows no overlay; run with dataset_src=local"
        )

    local._load_problems = load_hardened
    hub: Any = dataset.HuggingFaceKernelBenchDataset
    hub.__init__ = refuse


def main(arguments: list[str]) -> None:
    """Run a script of the harness on the overlay."""
    if not arguments:
        sys.exit("usage: python suiteopt_overlay/evaluate.py SCRIPT [ARGUMENTS]")
    script = arguments[0]
    with open(script, encoding="utf-8") as handle:
        if "prompt_constructor" in handle.read():
            sys.exit(f"suiteopt: {script} makes prompts, and hardened problems must not get there")
    source = os.path.join(CHECKOUT, "src")
    if source not in sys.path:
        sys.path.insert(0, source)
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    install()
    sys.argv = arguments
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
