"""Null mutants by their short names."""


def null_name(implementation: str, problem: str) -> str:
    """Return what a null does, such as ``zeros``, from its id ``<problem>:null:<name>``."""
    return implementation.removeprefix(f"{problem}:").removeprefix("null:")
