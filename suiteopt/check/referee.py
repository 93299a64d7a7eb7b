"""The referee's process: executes a problem's own definition, makes inputs and compares outputs.

Run as ``python -m suiteopt.check.referee FD``. It never executes a candidate, and what it expects
never leaves it, so that no candidate finds it in a file.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suiteopt.check.answering import Answer, sentence, serve
from suiteopt.check.case import CannotJudgeError, Case
from suiteopt.check.compare import Rule, compare
from suiteopt.check.definition import (
    INIT_SEED,
    cast,
    execute,
    new_namespace,
)
from suiteopt.check.reference import ReferenceModel
from suiteopt.check.wire import describe, size_of, write
from suiteopt.export.templates.hardened_inputs import (
    BENCHMARK,
    Member,
    flattened,
    without_values,
)
from suiteopt.inputs import recipes

CACHE_BYTES = 1 << 30
"""Inputs and expected outputs that are kept for the next candidate."""

SLACK_BYTES = 1 << 26
SCALARS = (bool, int, float, str, type(None))


class Referee:
    """One problem's definition with its own draws and a suite's members.

    Configurations are numbered: own draws first, members after them.

    Parameters
    ----------
    order : mapping
        ``reference`` (path), ``device``, ``names`` (tensors in forward's order), ``own`` (draws,
        comparator, tolerance, nonfinite), ``members`` (as in a suite's file), ``nonfinite`` of
        the members, ``parameter_names`` (what the model calls them), ``max_bytes`` of one
        configuration's inputs, or None.
    """

    def __init__(self, order: Mapping[str, Any]) -> None:
        import torch

        cuda = torch.cuda.is_available()
        self.device = order["device"]
        if self.device == "auto":
            self.device = "cuda" if cuda else "cpu"
        if self.device != "cpu" and not cuda:
            raise CannotJudgeError("torch sees no GPU here; use --device cpu")
        namespace = new_namespace("suiteopt_reference")
        execute(Path(order["reference"]), namespace)
        for name in ("Model", "get_inputs", "get_init_inputs"):
            if name not in namespace:
                raise CannotJudgeError(f"it defines no {name}")
        self._get_inputs = namespace["get_inputs"]
        self._model = ReferenceModel(namespace, self.device)
        self._names = order["names"]
        self._policy = order["nonfinite"]
        known_as = order["parameter_names"]
        self._members = [Member(item, recipes, self._policy, known_as) for item in order["members"]]
        own = order["own"]
        self._own = Rule(own["comparator"], own["tolerance"], own["nonfinite"])
        torch.manual_seed(INIT_SEED)
        self.seeds = [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(own["draws"])]
        layout = [value for value in without_values(self._get_inputs) if torch.is_tensor(value)]
        self._input_bytes = size_of([describe(value) for value in layout])
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self._most = memory // 6 if order["max_bytes"] is None else order["max_bytes"]
        self._kept: dict[int, Case] = {}
        self._latest: tuple[int, Case] | None = None

    def prepare(self, number: int, folder: Path, everything: bool) -> Answer:
        """Write what a candidate gets on a configuration into files; say what they hold.

        With ``everything``, parameters that the benchmark draws are written too.
        """
        import torch

        case = self._case(number)
        items: list[Any] = []
        for value in case.inputs:
            if not torch.is_tensor(value) and not isinstance(value, SCALARS):
                raise CannotJudgeError(f"an input is of type {type(value).__name__}")
            items.append("tensor" if torch.is_tensor(value) else {"value": value})
        inputs, parameters = folder / "inputs", folder / "parameters"
        names = list(case.parameters) if everything else case.required
        member = self._member(number)
        shapes = self._model.shapes
        return {
            "inputs": {
                "file": str(inputs),
                "header": write(inputs, flattened(case.inputs)),
                "items": items,
            },
            "parameters": {
                "file": str(parameters),
                "header": write(parameters, [case.parameters[name] for name in names]),
                "names": names,
                "required": case.required,
                "all": shapes if case.required else {},
                "member": member.input if member else "",
            },
            "seed": member.seed if member else self.seeds[number],
            "tf32": member is None,
            "most_bytes": 4 * size_of([describe(t) for t in case.expected]) + SLACK_BYTES,
        }

    def judge(self, number: int, header: Any, path: Path) -> Answer:
        """Compare what a candidate wrote with what is expected on a configuration."""
        case, member = self._case(number), self._member(number)
        rule = Rule(member.comparator, member.tolerance, self._policy) if member else self._own
        return compare(case.expected, header, path, rule, self.device, exact=member is None)

    def _member(self, number: int) -> Member | None:
        draws = len(self.seeds)
        return None if number < draws else self._members[number - draws]

    def _case(self, number: int) -> Case:
        if self._latest is not None and self._latest[0] == number:
            return self._latest[1]
        if number in self._kept:
            return self._kept[number]
        self._latest = None  # one configuration at a time beside those that are kept
        if self._input_bytes > self._most:
            raise CannotJudgeError(
                f"its inputs take {self._input_bytes} bytes, and {self._most} are allowed; raise "
                "--max-bytes, or give a reference with smaller shapes"
            )
        member = self._member(number)
        made = self._draw(self.seeds[number]) if member is None else self._made(member)
        if sum(case.bytes for case in self._kept.values()) + made.bytes <= CACHE_BYTES:
            self._kept[number] = made
        else:
            self._latest = (number, made)
        return made

    def _draw(self, seed: int) -> Case:
        """Return an own draw, as the harness makes it, at torch's own setting of TF32."""
        import torch

        torch.manual_seed(seed)
        inputs = [cast(value, "cpu") for value in self._get_inputs()]
        return Case(inputs, self._model.expected(inputs, seed, tf32=True), {}, [])

    def _made(self, member: Member) -> Case:
        """Return a member's configuration, without TF32, as it was measured."""
        import torch

        if member.comparator.startswith("truth"):
            raise CannotJudgeError(
                f"{member.comparator} needs a reference in fp64; select with another comparator"
            )
        values = {}
        try:
            # Recipes give the same bits on every device, and are slow on a processor.
            made = member.inputs(self._get_inputs, self._names, self.device)
            inputs = [value.cpu() if torch.is_tensor(value) else value for value in made]
            for wanted, recipe in member.parameters.items():
                if recipe["name"] != BENCHMARK:
                    name, target = self._model.parameter(wanted, member)
                    shape = tuple(target.shape)
                    built = recipes.build(recipe, shape, member.seed, wanted, self.device)
                    values[name] = built.cpu()
        except Exception as error:
            text = " ".join(str(error).split()).removeprefix("suiteopt: ")
            raise CannotJudgeError(text or sentence(error)) from error
        with self._model.given(values):
            expected = self._model.expected(inputs, member.seed, tf32=False)
        return Case(inputs, expected, {**self._model.drawn, **values}, list(values))


class Desk:
    """Takes requests for the one referee that a process is: ``open``, ``prepare``, ``judge``."""

    def __init__(self) -> None:
        self._referee: Referee | None = None

    def answer(self, request: Mapping[str, Any]) -> Answer:
        """Do what a request asks; ``cannot`` says why a configuration cannot be judged."""
        try:
            if request["op"] == "open":
                self._referee = Referee(request)
                return {"device": self._referee.device, "seeds": self._referee.seeds}
            assert self._referee is not None
            number = request["configuration"]
            if request["op"] == "prepare":
                folder = Path(request["directory"])
                try:
                    return self._referee.prepare(number, folder, request["everything"])
                except (FileExistsError, FileNotFoundError, NotADirectoryError):
                    return {"tampered": "the folder for its inputs was tampered with"}
            return self._referee.judge(number, request["outputs"], Path(request["file"]))
        except CannotJudgeError as error:
            return {"cannot": str(error)}


def main() -> None:
    """Import torch, say that this is done, and answer."""
    import torch  # noqa: F401

    serve(Desk().answer)


if __name__ == "__main__":
    main()
