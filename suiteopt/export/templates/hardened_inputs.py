"""Serves the members of a suite to any harness, and judges outputs by their own tolerances.

This file is copied verbatim, beside ``recipes.py``, ``suite.json`` and ``export.json``. It needs
torch and the standard library only. Members are made when they are asked for and not kept; torch's
global generators are left as they were found. In a harness::

    from hardened_inputs import load

    problem = load("hardened")["level1/040"]
    for member in problem:
        inputs = member.inputs(get_inputs, problem.names(reference))
        with member.parameters_on(reference, candidate):
            verdict = member.judge(reference(*inputs), candidate(*inputs))
        print(member.input, "pass" if verdict.accepted else f"fail: {verdict.why}")
"""

import contextlib
import hashlib
import inspect
import json
import math
import os
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch

OWN, SCALED, BENCHMARK, CONTRACT = "own", "scaled", "benchmark", "contract"
UNSCALED = frozenset({"signs", "mask", "class_ids", "probability_rows"})
_CHUNK = 1 << 22
"""Elements compared at a time; on a GPU also made at a time, where small steps are all launches."""


class Verdict(NamedTuple):
    """What one member says of a candidate's output.

    ``error`` is the smallest tolerance at which the comparator would accept the output, infinite
    where none would; ``why`` is empty where it is accepted.
    """

    accepted: bool
    error: float
    tolerance: float
    why: str


class Member:
    """One input of a suite, made from its recipes.

    Parameters
    ----------
    document : mapping
        As ``suite.json`` holds it.
    recipes : module
        The recipe module that was exported with it.
    nonfinite : str
        ``torch`` (NaN and unlike infinities fail), ``equal_nan`` (NaN in both passes) or
        ``finite_output`` (any non-finite output fails).
    parameter_names : mapping of str to str, optional
        What the benchmark's own model calls the parameters that the suite names.
    """

    def __init__(
        self,
        document: Mapping[str, Any],
        recipes: types.ModuleType,
        nonfinite: str = "torch",
        parameter_names: Mapping[str, str] | None = None,
    ) -> None:
        self.input: str = document["input"]
        self.seed: int = document["seed"]
        self.values: Mapping[str, Mapping[str, Any]] = document["values"]
        self.parameters: Mapping[str, Mapping[str, Any]] = document.get("parameters", {})
        self.shape: Mapping[str, int] = document.get("shape", {})
        self.shape_recipe: str = document.get("shape_recipe", CONTRACT)
        tolerance = document.get("tolerance")
        self.tolerance: float = math.inf if tolerance is None else float(tolerance)
        self.comparator: str = document.get("comparator", "")
        self._recipes = recipes
        self._nonfinite = nonfinite
        self._parameter_names = dict(parameter_names or {})

    def inputs(
        self,
        get_inputs: Callable[[], Sequence[Any]],
        names: Sequence[str] | None = None,
        device: "torch.device | str" = "cpu",
        shapes: Mapping[str, Sequence[int]] | None = None,
    ) -> list[Any]:
        """Make the inputs, in the order of ``get_inputs()``.

        Parameters
        ----------
        get_inputs : callable
            The problem's own: its shapes, dtypes and, for an own draw, its values are taken.
        names : sequence of str, optional
            Names of the tensors in that order; not needed for a single tensor.
        device : torch.device or str
            Where recipes are computed; the bits are the same everywhere.
        shapes : mapping, optional
            Shape by tensor, for a member whose shapes are not the problem's own.

        Raises
        ------
        RuntimeError
            If these are not the inputs that the member was measured for.
        """
        import torch

        layout = without_values(get_inputs)
        if self.shape_recipe != CONTRACT and shapes is None:
            raise RuntimeError(
                f"suiteopt: {self.input} was measured at other shapes ({dict(self.shape)}); "
                "give the tensors' shapes"
            )
        places = [i for i, value in enumerate(layout) if isinstance(value, torch.Tensor)]
        order = self._order(names, len(places))
        own = [name for name in order if self._factor(name) is not None]
        if own or len(places) < len(layout):
            with seeded(self.seed):
                made = list(get_inputs())
        else:
            made = list(layout)
        for name, place in zip(order, places, strict=True):
            like = layout[place]
            if like.dtype.is_floating_point and like.dtype != torch.float32:
                raise RuntimeError(
                    f"suiteopt: {name} is {like.dtype}, and {self.input} was measured in float32; "
                    "measure the problem in that dtype"
                )
            factor = self._factor(name)
            if factor is not None:
                made[place] = scaled(made[place], factor).to(device)
                continue
            shape = tuple(like.shape) if shapes is None else tuple(shapes[name])
            tensor = self._build(self.values[name], shape, name, device)
            made[place] = tensor.to(like.dtype)
        return made

    @contextlib.contextmanager
    def parameters_on(self, reference: Any, *candidates: Any) -> Iterator[None]:
        """Give all models the member's parameters for a while; see `set_parameters`."""
        import torch

        pairs = self._parameters(reference, candidates)
        former = [target.detach().clone() for target, _ in pairs]
        try:
            _copy(pairs)
            yield
        finally:
            with torch.no_grad():
                for (target, _), old in zip(pairs, former, strict=True):
                    target.copy_(old)

    def set_parameters(self, reference: Any, *candidates: Any) -> None:
        """Give all models the member's parameters.

        Parameters
        ----------
        reference : torch.nn.Module
            Its parameters are found by name: the benchmark's own where the suite knows it; else as
            it is, with dots for underscores, or by the last part where only one ends so.
        *candidates : torch.nn.Module
            Must have parameters of the reference's names, or of the same last part, and shapes;
            a shape that only one of them has, in both models, also says which is meant.

        Raises
        ------
        RuntimeError
            If a parameter cannot be told for certain; nothing is changed then.
        """
        _copy(self._parameters(reference, candidates))

    def parameter(self, reference: Any, wanted: str) -> tuple[str, Any]:
        """Return the reference's parameter that the member names, with its full name.

        Raises
        ------
        RuntimeError
            If it cannot be told for certain.
        """
        return find_parameter(reference, wanted, self.input, self._parameter_names)

    def called(self, wanted: str) -> str:
        """Return what the benchmark's own model calls a parameter that the member names."""
        return self._parameter_names.get(wanted, wanted)

    def _parameters(self, reference: Any, candidates: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Return each parameter to be set, with its values."""
        import torch

        pairs: list[tuple[Any, Any]] = []
        for wanted, recipe in self.parameters.items():
            if recipe["name"] == BENCHMARK:
                continue
            name, target = self.parameter(reference, wanted)
            if target.dtype != torch.float32:
                raise RuntimeError(
                    f"suiteopt: parameter {name} is {target.dtype}, and {self.input} was measured "
                    "in float32; measure the problem in that dtype"
                )
            shape = tuple(target.shape)
            values = self._build(recipe, shape, wanted, target.device)
            pairs.append((target, values))
            for candidate in candidates:
                pairs.append((match_parameter(reference, name, candidate, self.input), values))
        return pairs

    def _build(
        self, recipe: Mapping[str, Any], shape: Sequence[int], name: str, device: Any
    ) -> Any:
        """Make one tensor; the bits depend neither on the device nor on the step."""
        import torch

        step = {} if torch.device(device).type == "cpu" else {"chunk": _CHUNK}
        return self._recipes.build(recipe, shape, self.seed, name, device, **step)

    def judge(self, expected: Any, got: Any) -> Verdict:
        """Compare outputs (tensors, or lists and tuples of them) at the member's tolerance."""
        theirs, ours = flattened(expected), flattened(got)
        if len(theirs) != len(ours):
            return self._verdict(math.inf, f"{len(ours)} outputs and not {len(theirs)}")
        worst = 0.0
        for one, other in zip(theirs, ours, strict=True):
            if one.shape != other.shape:
                why = f"shape {tuple(other.shape)} and not {tuple(one.shape)}"
                return self._verdict(math.inf, why)
            error, bad = critical_tolerance(one, other, self.comparator, self._nonfinite)
            if bad:
                return self._verdict(math.inf, f"{bad} elements are not finite or not alike")
            worst = max(worst, error)
        return self._verdict(worst, "")

    def _verdict(self, error: float, why: str) -> Verdict:
        accepted = not why and error <= self.tolerance
        if not accepted and not why:
            why = f"{self.comparator} is {error:.6g}, above {self.tolerance:.6g}"
        return Verdict(accepted, error, self.tolerance, why)

    def _order(self, names: Sequence[str] | None, count: int) -> list[str]:
        if names is None:
            names = list(self.values)
            if len(names) > 1:
                raise RuntimeError(
                    f"suiteopt: {self.input} has tensors {', '.join(names)}; say in which order "
                    "get_inputs() returns them"
                )
        own = {name.lower(): name for name in self.values}
        order = [own.get(name.lower(), "") for name in names]
        if len(order) != count or sorted(order) != sorted(self.values):
            raise RuntimeError(
                f"suiteopt: get_inputs() returns {count} tensors ({', '.join(names)}), and "
                f"{self.input} has {', '.join(self.values)}; measure this version of the problem"
            )
        return order

    def _factor(self, name: str) -> float | None:
        """Return by what the own draw is multiplied; None for any other recipe."""
        recipe = self.values[name]
        if recipe["name"] == OWN:
            return 1.0
        if recipe["name"] == SCALED:
            fixed = recipe.get("structure", "none") in UNSCALED
            return 1.0 if fixed else float(recipe["arguments"]["factor"])
        return None


class Problem:
    """The members of one problem, strongest first."""

    def __init__(
        self, document: Mapping[str, Any], members: Sequence[Member], unread: Sequence[str] = ()
    ) -> None:
        self.unread = tuple(unread)
        """Parameters that the benchmark's model has and never reads."""
        self.problem: str = document["problem"]
        self.name: str = document["name"]
        self.dtype: str = document["dtype"]
        self.members = list(members)

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def names(self, model: Any) -> list[str] | None:
        """Return the input tensors' names in the order in which a model's forward takes them."""
        wanted = [] if not self.members else list(self.members[0].values)
        return order_of(model, wanted)


def _copy(pairs: Sequence[tuple[Any, Any]]) -> None:
    import torch

    with torch.no_grad():
        for target, values in pairs:
            target.copy_(values)


def load(directory: str) -> dict[str, Problem]:
    """Read an exported suite: problem id to its members.

    Raises
    ------
    RuntimeError
        If a file is missing or is not the one that was exported.
    """
    with open(os.path.join(directory, "export.json"), encoding="utf-8") as handle:
        export = json.load(handle)
    recipes = types.ModuleType("suiteopt_recipes")
    source = read_verified(os.path.join(directory, "recipes.py"), export["recipes_sha256"])
    exec(compile(source, "recipes.py", "exec"), recipes.__dict__)
    document = json.loads(
        read_verified(os.path.join(directory, "suite.json"), export["suite_sha256"])
    )
    names = export.get("parameter_names", {})
    return {
        item["problem"]: Problem(
            item,
            [
                Member(member, recipes, export["nonfinite"], names.get(item["problem"]))
                for member in item["members"]
            ],
            export.get("unread_parameters", {}).get(item["problem"], ()),
        )
        for item in document["problems"]
    }


def read_verified(path: str, sha256: str) -> bytes:
    """Return a file's bytes, if they are the ones that were exported."""
    try:
        with open(path, "rb") as handle:
            content = handle.read()
    except OSError as error:
        raise RuntimeError(f"suiteopt: {path} cannot be read ({error}); export again") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise RuntimeError(f"suiteopt: {path} is not the file that was exported; export again")
    return content


def order_of(model: Any, wanted: Sequence[str]) -> list[str] | None:
    """Return names in the order of a model's ``forward``; None where a single one needs none.

    A definition whose output is called as the benchmark calls an input has ``y_in`` for ``y``.
    """
    if len(wanted) < 2:
        return None
    arguments = [name.lower() for name in inspect.signature(model.forward).parameters]

    def place(name: str) -> int:
        for spelling in (name.lower(), name.lower().removesuffix("_in")):
            if spelling in arguments:
                return arguments.index(spelling)
        raise RuntimeError(
            f"suiteopt: the model's forward takes {', '.join(arguments)}, and the suite has a "
            f"tensor {name}; measure this version of the problem"
        )

    return sorted(wanted, key=place)


def named_tensors(model: Any) -> dict[str, Any]:
    """Return the parameters and buffers of a model by name."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def _flat(name: str) -> str:
    """Return a parameter's name as a model has it that keeps all of them itself."""
    return name.replace(".", "_")


def find_parameter(
    model: Any, wanted: str, member: str, names: Mapping[str, str] | None = None
) -> tuple[str, Any]:
    """Return the reference's parameter that a suite names, with its full name.

    `names` has what the benchmark's model calls them. A model that has not got all of these is
    another one, and is asked for the suite's.
    """
    known = named_tensors(model)
    name = name_among(tuple(known), wanted, names)
    if name is None:
        raise RuntimeError(
            f"suiteopt: {member} sets the parameter '{wanted}', and the reference has "
            f"{', '.join(known) or 'none'}: which is meant cannot be told"
        )
    return name, known[name]


def name_among(
    known: Sequence[str], wanted: str, names: Mapping[str, str] | None = None
) -> str | None:
    """Return which of a model's parameters a suite names; None if that cannot be told."""
    if names and set(map(_flat, known)) >= set(map(_flat, names.values())):
        wanted = names.get(wanted, wanted)
    rules: tuple[Callable[[str], bool], ...] = (
        lambda name: name == wanted,
        lambda name: _flat(name) == _flat(wanted),
        lambda name: name.rsplit(".", 1)[-1] == wanted,
    )
    for rule in rules:
        found = [name for name in known if rule(name)]
        if len(found) == 1:
            return found[0]
    return None


def match_parameter(reference: Any, name: str, candidate: Any, member: str) -> Any:
    """Return the candidate's counterpart of a parameter of the reference."""
    theirs, ours = named_tensors(reference), named_tensors(candidate)
    shape = theirs[name].shape
    last = name.rsplit(".", 1)[-1]
    fitting = {other: tensor for other, tensor in ours.items() if tensor.shape == shape}
    alone = sum(tensor.shape == shape for tensor in theirs.values()) == 1
    rules: tuple[Callable[[str], bool], ...] = (
        lambda other: other == name,
        lambda other: _flat(other) == _flat(name),
        lambda other: other.rsplit(".", 1)[-1] == last,
        lambda other: alone,
    )
    for rule in rules:
        found = [other for other in fitting if rule(other)]
        if len(found) == 1:
            return fitting[found[0]]
    has = ", ".join(f"{other} {tuple(tensor.shape)}" for other, tensor in ours.items())
    raise RuntimeError(
        f"suiteopt: {member} sets the parameter '{name}' of shape {tuple(shape)}, and the "
        f"candidate has {has or 'no parameters'}: keep the reference's names and shapes"
    )


def critical_tolerance(
    expected: "torch.Tensor", got: "torch.Tensor", comparator: str, nonfinite: str
) -> tuple[float, int]:
    """Return the smallest tolerance that accepts an output, and how many elements none accepts.

    With d = |got - expected| over elements that are finite on both sides, computed in fp64 and in
    chunks. Equal elements, infinities too, have d = 0; d > 0 over a zero scale is infinite.
    """
    import torch

    kind, _, text = comparator.partition("@")
    ratio = float(text) if text else 1.0
    theirs, ours = expected.detach().reshape(-1), got.detach().reshape(-1).to(expected.device)
    worst, bad, largest, squares, count = 0.0, 0, 0.0, 0.0, 0
    for start in range(0, theirs.numel(), _CHUNK):
        one = theirs[start : start + _CHUNK].double()
        other = ours[start : start + _CHUNK].double()
        equal = one == other
        finite = torch.isfinite(one) & torch.isfinite(other)
        bad += _nonfinite(one, other, equal | finite, nonfinite)
        one, other = one[finite], other[finite]
        if one.numel() == 0:
            continue
        d = (other - one).abs()
        largest = max(largest, float(one.abs().max()))
        squares += float(one.square().sum())
        count += one.numel()
        worst = max(worst, float(_scaled_error(d, one, other, kind, ratio).max()))
    scale = {"global": 1.0 + largest, "rms": math.sqrt(squares / count) if count else 0.0}
    if kind not in scale:
        return worst, bad
    if scale[kind] == 0.0:
        return (math.inf if worst > 0.0 else 0.0), bad
    return worst / scale[kind], bad


def _scaled_error(
    d: "torch.Tensor", one: "torch.Tensor", other: "torch.Tensor", kind: str, ratio: float
) -> "torch.Tensor":
    import torch

    if kind in ("max_abs", "global", "rms"):
        return d
    if kind == "allclose_candidate":
        return d / (1.0 + ratio * other.abs())
    if kind == "allclose_reference":
        return d / (1.0 + ratio * one.abs())
    relative = torch.where(d > 0, d / one.abs(), d)
    if kind == "max_rel":
        return relative
    if kind == "either_or":
        return torch.minimum(d, relative)
    raise RuntimeError(f"suiteopt: this file knows no comparator '{kind}'; export again")


def _nonfinite(
    one: "torch.Tensor", other: "torch.Tensor", alike: "torch.Tensor", policy: str
) -> int:
    import torch

    if policy == "finite_output":
        return int((~torch.isfinite(other)).sum())
    if policy == "equal_nan":
        alike = alike | (torch.isnan(one) & torch.isnan(other))
    return int((~alike).sum())


def flattened(value: Any) -> list[Any]:
    """Return all tensors of a nested output."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in flattened(item)]
    return []


def scaled(tensor: Any, factor: float) -> Any:
    """Multiply floating-point values; whole numbers stay as they are."""
    return tensor * factor if factor != 1.0 and tensor.is_floating_point() else tensor


def without_values(function: Callable[[], Sequence[Any]]) -> list[Any]:
    """Return what a function draws, without memory for the values where it allows that."""
    import torch

    with seeded(0):
        try:
            with torch.device("meta"):
                return list(function())
        except (RuntimeError, NotImplementedError, TypeError, ValueError):
            return list(function())


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the CPU's global generator for a while, and leave it as it was found."""
    import torch

    state = torch.get_rng_state()
    try:
        torch.default_generator.manual_seed(seed)
        yield
    finally:
        torch.set_rng_state(state)
