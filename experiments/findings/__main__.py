"""Runs every finding of this package in alphabetical order: ``python -m experiments.findings``."""

import pkgutil
from importlib import import_module

import experiments.findings
from suiteopt.console import run_script

SHARED = frozenset({"common", "__main__"})


def main() -> None:
    """Run all; a finding is a module here that has a ``main``."""
    names = sorted(module.name for module in pkgutil.iter_modules(experiments.findings.__path__))
    for name in names:
        if name not in SHARED:
            import_module(f"experiments.findings.{name}").main()


if __name__ == "__main__":
    run_script(main)
