"""Targets by name: entry points in the group ``suiteopt.targets``, and the built-in ones."""

import inspect
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from suiteopt.errors import UserError
from suiteopt.export.target import Target

GROUP = "suiteopt.targets"

# Also entry points of this distribution; named here so that a plain checkout has them too.
BUILT_IN = {
    "flashinfer-bench": "suiteopt.export.flashinfer_bench:FlashInferBench",
    "gpumode": "suiteopt.export.gpumode:GpuMode",
    "json": "suiteopt.export.json_suite:JsonSuite",
    "kernelbench": "suiteopt.export.kernelbench:KernelBench",
    "kernelbench-sidecar": "suiteopt.export.kernelbench_sidecar:KernelBenchSidecar",
    "kernelbench-verified": "suiteopt.export.kernelbench_verified:KernelBenchVerified",
    "multikernelbench": "suiteopt.export.multikernelbench:MultiKernelBench",
    "robust-kbench": "suiteopt.export.robust_kbench:RobustKBench",
}


def target_references() -> dict[str, str]:
    """Return where each known target is defined: name to ``module:class``, by name.

    Raises
    ------
    UserError
        If two packages define different targets under one name.
    """
    found = dict(BUILT_IN)
    for point in entry_points(group=GROUP):
        other = found.setdefault(point.name, point.value)
        if other != point.value:
            raise UserError(
                f"two packages define the target '{point.name}' ({other} and {point.value}); "
                "uninstall one of them"
            )
    return dict(sorted(found.items()))


def get_target(name: str, **options: Any) -> Target:
    """Return a target.

    Parameters
    ----------
    name : str
    **options
        What the target's constructor takes, for example ``tolerance=1e-4``.

    Raises
    ------
    UserError
        If there is no such target, if it cannot be loaded, or if it has no such option.
    """
    references = target_references()
    if name not in references:
        raise UserError(f"there is no target '{name}'; known targets: {', '.join(references)}")
    kind = _load(name, references[name])
    known = list(inspect.signature(kind).parameters)
    for option in options:
        if option not in known:
            raise UserError(
                f"the target '{name}' has no option '{option}'; "
                f"its options: {', '.join(known) or 'none'}"
            )
    return kind(**options)


def describe_targets() -> list[dict[str, Any]]:
    """Return what ``suiteopt targets`` shows, one mapping a target, by name."""
    return [_describe(name) for name in target_references()]


def _describe(name: str) -> dict[str, Any]:
    target = get_target(name)
    capabilities = target.capabilities
    return {
        "name": name,
        "title": target.title,
        "needs": sorted(capabilities.needs),
        "oracle": capabilities.oracle,
        "comparator": None if target.comparator is None else str(target.comparator),
        "tolerance": target.tolerance,
        "member_limit": capabilities.member_limit,
        "own_first": capabilities.own_first,
        "own_draws": target.draws,
        "dtypes": sorted(target.dtypes),
        "trials": target.trials,
        "memory": target.memory,
        "options": dict(target.options),
    }


def _load(name: str, reference: str) -> type[Target]:
    try:
        point = EntryPoint(name=name, value=reference, group=GROUP)
        kind = getattr(import_module(point.module), point.attr)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"the target '{name}' cannot be loaded from {reference} ({error}); "
            "reinstall the package that defines it, or uninstall that package"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Target)):
        raise UserError(
            f"the target '{name}' is defined by {reference}, which is no subclass of "
            "suiteopt.export.target.Target; uninstall the package that defines it"
        )
    return kind
