"""Problems of a checkout made so small that every one of them can be loaded on a processor.

The largest constant of a problem is halved until inputs, outputs and parameters have few bytes. So
what has to fit (groups and channels, a kernel and what it slides over) keeps fitting.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from suiteopt.export.templates import kernelbench_verified_loader as loader

BYTES = 4_000_000
LEAST = 8
"""Constants below are left alone."""

KEPT = "num_classes"
"""A recipe of class labels names how many classes there are."""


def shorten(definitions: Iterable[Path]) -> list[str]:
    """Shorten problems; return those that could not be made small.

    Parameters
    ----------
    definitions : iterable of Path
        Files that define problems; a task of robust-kbench has its constants beside one.
    """
    configs = {path: path.with_name("config_forward.json") for path in definitions}
    places = [config if config.exists() else path for path, config in configs.items()]
    return [str(place) for place in places if not _shorten(place, _measure(place))]


def _measure(place: Path) -> Callable[[Path, str], int]:
    return _config_bytes if place.suffix == ".json" else _definition_bytes


def _shorten(place: Path, measure: Callable[[Path, str], int]) -> bool:
    """Halve a file's largest constant until it is small; leave it alone where that fails."""
    text = published = place.read_text(encoding="utf-8")
    try:
        while measure(place, text) > BYTES:
            constants = [pair for pair in _constants(place, text) if pair[0] != KEPT]
            name, value = max(constants, key=lambda pair: pair[1])
            if value <= LEAST:
                break
            text = _halved(place, text, name, value // 2)
        small = measure(place, text) <= 4 * BYTES
    except Exception:  # foreign code, at sizes that nobody has tried
        small = False
    place.write_text(text if small else published, encoding="utf-8")
    return small


def _constants(place: Path, text: str) -> Iterable[tuple[str, int]]:
    if place.suffix == ".json":
        return [(name, int(value)) for name, value in re.findall(r'"(\w+)": (\d+)', text)]
    return list(_assigned(text))


def _assigned(text: str) -> Iterator[tuple[str, int]]:
    known: dict[str, int] = {}
    for names, expression in _assignments(text):
        try:
            code = compile(ast.Expression(expression), "constant", "eval")
            value = eval(code, {"__builtins__": {}}, dict(known))
        except Exception:  # no constant: a call, or a name of a module
            continue
        if type(value) is int:
            known |= dict.fromkeys(names, value)
            yield names[0], value


def _assignments(text: str) -> Iterator[tuple[list[str], ast.expr]]:
    """Yield what is assigned to which names: ``a = b = 1`` at once, ``a, b = 1, 2`` one by one."""
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=False)
            yield from (([one.id], part) for one, part in pairs if isinstance(one, ast.Name))
        elif names := [one.id for one in node.targets if isinstance(one, ast.Name)]:
            yield names, value


def _halved(place: Path, text: str, name: str, value: int) -> str:
    if place.suffix == ".json":
        return re.sub(rf'("{name}": )\d+', rf"\g<1>{value}", text)
    lines = text.encode().splitlines(keepends=True)  # positions are counted in bytes
    for names, old in reversed(list(_assignments(text))):
        if names[0] == name:
            first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
            before, after = lines[first][: old.col_offset], lines[last][old.end_col_offset :]
            lines[first : last + 1] = [before + str(value).encode() + after]
    return b"".join(lines).decode()


def _definition_bytes(place: Path, text: str) -> int:
    context: dict[str, Any] = {"__file__": str(place)}
    exec(text, context)
    return _bytes(context["Model"], context["get_init_inputs"](), {}, context["get_inputs"], {})


def _config_bytes(place: Path, text: str) -> int:
    config = json.loads(text)
    shared = config["single_shared_configs"][0]
    context: dict[str, Any] = {}
    exec((place.parent / "func_forward.py").read_text(encoding="utf-8"), context)
    named = {**config["single_init_configs"][0], **shared}
    drawn = {**config["single_input_configs"][0], **shared}
    return _bytes(context["Model"], (), named, context["get_inputs"], drawn)


def _bytes(
    model: Callable[..., Any],
    arguments: Iterable[Any],
    named: dict[str, Any],
    get_inputs: Callable[..., Any],
    drawn: dict[str, Any],
) -> int:
    with torch.device("meta"), torch.no_grad():
        made = model(*arguments, **named)
        inputs = list(get_inputs(**drawn))
        parameters = list(made.parameters())
        # With its own function as an argument, where a task has one, the model is as it was.
        outputs = loader.flattened(made(*inputs))
    return sum(int(loader.describe(one)["bytes"]) for one in (*inputs, *outputs, *parameters))
