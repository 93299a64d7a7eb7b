"""Loaded units of the host device, and launch plans bound to what they hold and to a case."""

import ctypes
from collections import OrderedDict
from dataclasses import dataclass, field

from gpu_eval.devices.base import Binary
from gpu_eval.devices.host_arguments import BoundPlan, bind_plan, workspace_specifications
from gpu_eval.devices.host_case import Arena, BoundCase
from gpu_eval.devices.host_library import KernelRecord
from gpu_eval.problems.plan import ResolvedPlan, ResolvedWorkspace
from suiteopt.errors import UserError

KEPT_PLANS = 64  # a case
KEPT_WORKSPACES = 8  # sets of them


@dataclass
class _LoadedUnit:
    """A unit and the kernels of those of its implementations that were used."""

    handle: int
    tables: dict[str, dict[str, "ctypes._Pointer[KernelRecord]"]] = field(default_factory=dict)


class HostPrograms:
    """Keeps the units and workspaces of one session; plans are kept with their case.

    Parameters
    ----------
    library : ctypes.CDLL
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._units: dict[str, _LoadedUnit] = {}
        self._workspaces: OrderedDict[tuple[ResolvedWorkspace, ...], Arena] = OrderedDict()

    def load(self, binary: Binary) -> int:
        """Return the handle of the unit that an implementation stands in.

        Raises
        ------
        UserError
            If the file cannot be loaded, or does not hold the implementation.
        """
        return self._loaded(binary).handle

    def _loaded(self, binary: Binary) -> _LoadedUnit:
        path = str(binary.path)
        unit = self._units.get(path)
        if unit is None:
            handle = self._library.hostgpu_load(path.encode())
            if not handle:
                reason = self._library.hostgpu_error().decode(errors="replace")
                raise UserError(f"cannot load {path}: {reason}; delete it and compile again")
            unit = self._units[path] = _LoadedUnit(handle)
        if binary.symbol not in unit.tables:
            table = self._library.hostgpu_kernels(unit.handle, binary.symbol.encode())
            if not table:
                raise UserError(f"{path} does not hold '{binary.symbol}'; compile again")
            unit.tables[binary.symbol] = _kernels(table)
        return unit

    def bind(
        self, bound: BoundCase, binary: Binary, plan: ResolvedPlan
    ) -> tuple[BoundPlan, Arena | None]:
        """Return a plan's launches on a case, and the arena of its workspaces if it has any.

        Raises
        ------
        LaunchRefused
            If no device would launch it.
        UserError
            If the plan does not fit the implementation or the case.
        """
        key = (str(binary.path), binary.symbol, plan)
        found = bound.plans.get(key)
        if found is not None and (found[1] is None or found[1].handle):
            bound.plans.move_to_end(key)
            return found
        workspaces = self._workspace_arena(plan)

        def address(name: str) -> int:
            if workspaces and name in workspaces.addresses:
                return workspaces.addresses[name]
            if name in bound.arena.addresses:
                return bound.arena.addresses[name]
            known = sorted((*bound.arena.addresses, *(w.name for w in plan.workspaces)))
            raise UserError(f"the plan names '{name}', which is none of: {', '.join(known)}")

        launches = bind_plan(plan, self._loaded(binary).tables[binary.symbol], address)
        bound.plans[key] = (launches, workspaces)
        bound.plans.move_to_end(key)
        if len(bound.plans) > KEPT_PLANS:
            bound.plans.popitem(last=False)
        return launches, workspaces

    def close(self) -> None:
        """Free workspaces and unload units."""
        for arena in self._workspaces.values():
            arena.free()
        for unit in self._units.values():
            self._library.hostgpu_unload(unit.handle)
        self._units.clear()
        self._workspaces.clear()

    def _workspace_arena(self, plan: ResolvedPlan) -> Arena | None:
        """Return the arena of a plan's workspaces, shared by all plans and cases that need it."""
        if not plan.workspaces:
            return None
        arena = self._workspaces.get(plan.workspaces)
        if arena is None:
            arena = Arena(self._library, workspace_specifications(plan))
            self._workspaces[plan.workspaces] = arena
            if len(self._workspaces) > KEPT_WORKSPACES:
                _, oldest = self._workspaces.popitem(last=False)
                oldest.free()
        self._workspaces.move_to_end(plan.workspaces)
        return arena


def _kernels(
    table: "ctypes._Pointer[KernelRecord]",
) -> dict[str, "ctypes._Pointer[KernelRecord]"]:
    result: dict[str, ctypes._Pointer[KernelRecord]] = {}
    index = 0
    while table[index].name:
        result[table[index].name.decode()] = ctypes.pointer(table[index])
        index += 1
    return result
