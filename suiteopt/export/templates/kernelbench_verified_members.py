"""Serves the members of a suite as hidden inputs of KernelBench-Verified, one at a time.

This file is copied verbatim beside the hidden files that use it. It needs torch and the standard
library only. A harness takes ``len()`` of what `hidden_inputs` returns and iterates over it: each
configuration is made anew when it is asked for, on the CPU, and none is kept here. torch's global
generator is left as it was found.
"""

import contextlib
import hashlib
import os
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

ORIGINAL_SEED = 24301
"""The original configurations are drawn from the benchmark's generator, unseeded as published;
here they are drawn under this seed, so that a verdict can be repeated. The harness uses it
nowhere: under its own 42 a configuration would equal the input that it times."""

TOLERANCE_VARIABLE = "KB_FP32_TOL"
PUBLISHED_TOLERANCE = 1e-3


def load_verified(path: str, sha256: str) -> types.ModuleType:
    """Execute a file as a module, if it is the one that was exported.

    The very bytes that were hashed are executed, and nothing is cached beside the file.

    Raises
    ------
    RuntimeError
        If the file is missing or has another content.
    """
    try:
        with open(path, "rb") as handle:
            source = handle.read()
    except OSError as error:
        raise RuntimeError(f"suiteopt: {path} cannot be read ({error}); export again") from error
    if hashlib.sha256(source).hexdigest() != sha256:
        raise RuntimeError(f"suiteopt: {path} is not the file that was exported; export again")
    module = types.ModuleType("suiteopt_" + os.path.splitext(os.path.basename(path))[0])
    module.__file__ = path
    exec(compile(source, path, "exec"), module.__dict__)
    return module


class HiddenInputs(Sequence[list[Any]]):
    """The configurations of one problem: the original ones (if kept), then the members.

    Parameters
    ----------
    hidden_file : str
        The hidden file itself; the original one is executed under this name.
    problem_file : str
        The problem's definition.
    tensors : sequence of str
        Names of the input tensors, in the order of ``get_inputs()``.
    members : sequence of mapping
        ``{"input", "seed", "values": {tensor: {"name", "version", "arguments"}}}``.
    recipes : module
        The recipes that were exported.
    original : str or None
        The kept original hidden file; None leaves its configurations out.

    Raises
    ------
    RuntimeError
        If the problem's inputs are not those that the members were made for.
    """

    def __init__(
        self,
        hidden_file: str,
        problem_file: str,
        tensors: Sequence[str],
        members: Sequence[Mapping[str, Any]],
        recipes: types.ModuleType,
        original: str | None,
    ) -> None:
        self._hidden_file = hidden_file
        self._problem_file = problem_file
        self._tensors = list(tensors)
        self._members = list(members)
        self._recipes = recipes
        self._original = original
        namespace = _execute(problem_file, {"__name__": "suiteopt_problem"})
        if "get_inputs" not in namespace:
            raise RuntimeError(f"suiteopt: {problem_file} has no get_inputs()")
        self._get_inputs = namespace["get_inputs"]
        self._layout = _without_values(self._get_inputs)
        self._positions = self._match()
        # Counted when they are drawn, or when somebody asks: torch's shape rules import slowly.
        self._kept: int | None = None if original else 0

    def __len__(self) -> int:
        return self._count_originals() + len(self._members)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise TypeError("members are made one at a time: take one index, or iterate")
        position = range(len(self))[index]
        kept = self._count_originals()
        return (
            list(self._originals())[position] if position < kept else self._member(position - kept)
        )

    def __iter__(self) -> Iterator[list[Any]]:
        yield from self._originals()
        for index in range(len(self._members)):
            yield self._member(index)

    def _match(self) -> dict[str, int]:
        """Return each tensor's position in what ``get_inputs()`` returns."""
        import torch

        places = [i for i, value in enumerate(self._layout) if isinstance(value, torch.Tensor)]
        if len(places) != len(self._tensors):
            raise RuntimeError(
                f"suiteopt: get_inputs() of {self._problem_file} returns {len(places)} tensors, "
                f"and the suite was chosen for {len(self._tensors)} "
                f"({', '.join(self._tensors)}); measure this version of the problem"
            )
        for name, place in zip(self._tensors, places, strict=True):
            dtype = self._layout[place].dtype
            if dtype.is_floating_point and dtype != torch.float32:
                raise RuntimeError(
                    f"suiteopt: {name} of {self._problem_file} is {dtype}, and the suite was "
                    "measured in float32; measure this version of the problem"
                )
        return dict(zip(self._tensors, places, strict=True))

    def _count_originals(self) -> int:
        if self._kept is None:
            self._kept = len(_without_values(self._original_inputs))
        return self._kept

    def _original_inputs(self) -> list[Any]:
        import torch

        assert self._original is not None
        context = {"torch": torch, "__file__": self._hidden_file}
        configurations = _execute(self._original, context)["get_hidden_inputs"]()
        return list(configurations)

    def _originals(self) -> Iterator[list[Any]]:
        if self._original is None:
            return
        try:
            with _seeded(ORIGINAL_SEED):
                configurations = self._original_inputs()
        except Exception as error:
            raise self._failure("the original configurations", error) from error
        self._kept = len(configurations)
        while configurations:  # all were drawn at once, as published; none is held longer
            yield configurations.pop(0)

    def _member(self, index: int) -> list[Any]:
        member = self._members[index]
        try:
            return self._make(member)
        except Exception as error:
            raise self._failure(f"member {member['input']}", error) from error

    def _failure(self, what: str, error: Exception) -> RuntimeError:
        # The harness counts any other exception here as a failure of the kernel under test.
        return RuntimeError(
            f"suiteopt: {what} of {self._hidden_file} could not be made: "
            f"{type(error).__name__}: {error}"
        )

    def _make(self, member: Mapping[str, Any]) -> list[Any]:
        values: Mapping[str, Mapping[str, Any]] = member["values"]
        needs_draw = any(self._is_own(name, values[name]) for name in self._tensors) or len(
            self._layout
        ) > len(self._tensors)
        if needs_draw:  # also where get_inputs() returns scalars beside its tensors
            with _seeded(member["seed"]):
                made = list(self._get_inputs())
        else:
            made = list(self._layout)
        for name in self._tensors:
            place = self._positions[name]
            recipe = values[name]
            if self._is_own(name, recipe):
                made[place] = _scaled(made[place], recipe.get("own", 1.0))
            else:
                made[place] = self._build(name, recipe, member["seed"], self._layout[place])
        return made

    def _is_own(self, name: str, recipe: Mapping[str, Any]) -> bool:
        """Whether a tensor is the benchmark's own draw or a multiple of it."""
        return "own" in recipe

    def _build(
        self, name: str, recipe: Mapping[str, Any], seed: int, like: "torch.Tensor"
    ) -> "torch.Tensor":
        tensor: torch.Tensor = self._recipes.build(recipe, tuple(like.shape), seed, name)
        return tensor.to(like.dtype)


def hidden_inputs(
    hidden_file: str,
    problem_file: str,
    tensors: Sequence[str],
    members: Sequence[Mapping[str, Any]],
    recipes: str,
    recipes_sha256: str,
    original: str | None,
    tolerance: float,
) -> HiddenInputs:
    """Return the configurations of one problem; see `HiddenInputs`.

    Relative paths are taken from the hidden file's directory. ``tolerance`` is what the members
    were chosen for; a harness set to another one gets a warning, because correct kernels might
    then fail or faults pass.
    """
    _warn_of_other_tolerance(tolerance)
    directory = os.path.dirname(os.path.abspath(hidden_file))

    def locate(path: str) -> str:
        return os.path.normpath(os.path.join(directory, path))

    return HiddenInputs(
        hidden_file,
        locate(problem_file),
        tensors,
        members,
        load_verified(locate(recipes), recipes_sha256),
        None if original is None else locate(original),
    )


def _warn_of_other_tolerance(tolerance: float) -> None:
    text = os.environ.get(TOLERANCE_VARIABLE) or str(PUBLISHED_TOLERANCE)
    with contextlib.suppress(ValueError):
        if float(text) != tolerance:
            warnings.warn(
                f"suiteopt: these members were chosen for a tolerance of {tolerance:g}, and "
                f"{TOLERANCE_VARIABLE} sets {text}: correct kernels may fail, or faults pass",
                stacklevel=2,
            )


def _scaled(tensor: Any, factor: float) -> Any:
    """Multiply as the published scalings do: whole numbers and other values stay as they are."""
    return tensor * factor if factor != 1.0 and tensor.is_floating_point() else tensor


def _execute(path: str, context: dict[str, Any]) -> dict[str, Any]:
    with open(path, encoding="utf-8") as handle:
        source = handle.read()
    exec(compile(source, path, "exec"), context)
    return context


def _without_values(function: Any) -> list[Any]:
    """Return what a function draws, without memory for the values where it allows that."""
    import torch

    with _seeded(ORIGINAL_SEED):
        try:
            with torch.device("meta"):
                return list(function())
        except (RuntimeError, NotImplementedError, TypeError, ValueError):
            return list(function())  # it looks at values: draw them


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the CPU's global generator for a while, and leave it as it was found."""
    import torch

    state = torch.get_rng_state()
    try:
        torch.default_generator.manual_seed(seed)  # not torch.manual_seed, which seeds GPUs too
        yield
    finally:
        torch.set_rng_state(state)
