"""Adding items to lists of a YAML file and leaving every other byte as it is.

ruamel.yaml reads with positions, so an item becomes a line after the list's last one; the result is
read again and must be what was wanted.
"""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from suiteopt.errors import MissingExtraError, UserError


def read_yaml(content: bytes, where: str) -> Any:
    """Read a YAML mapping, with positions; plain types only, nothing is constructed.

    Raises
    ------
    UserError
        If it is no YAML mapping.
    MissingExtraError
        If ruamel.yaml is not installed.
    """
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
    except ModuleNotFoundError as error:
        raise MissingExtraError("ruamel.yaml", "export") from error
    try:
        document = YAML(typ="rt").load(io.BytesIO(content))
    except (YAMLError, ValueError) as error:
        raise UserError(f"{where} is no YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(document, dict):
        raise UserError(f"{where} is no YAML mapping, so it is no task")
    return document


def with_items(
    content: bytes, where: str, added: Mapping[str, Sequence[Mapping[str, Any]]]
) -> bytes:
    """Return a file with items at the end of its lists, each on a line of its own.

    Parameters
    ----------
    content : bytes
    where : str
        What an error calls it.
    added : mapping
        List by name to the items; integers and words only.

    Raises
    ------
    UserError
        If a list is missing, empty or not one item a line.
    """
    document = read_yaml(content, where)
    wanted = json.loads(json.dumps(document))
    lines = content.decode().splitlines(keepends=True)
    insertions: list[tuple[int, list[str]]] = []
    for name, items in added.items():
        present = document.get(name)
        if not isinstance(present, list) or not present:
            raise UserError(f"{where} has no list '{name}' with an item to write beside")
        wanted[name] = [*wanted[name], *items]
        line, _ = present.lc.item(len(present) - 1)  # type: ignore[attr-defined]
        dash = lines[line].index("-")
        made = [f"{lines[line][:dash]}- {json.dumps(dict(item))}\n" for item in items]
        insertions.append((line + 1, made))
    for at, made in sorted(insertions, reverse=True):
        if not lines[at - 1].endswith("\n"):
            lines[at - 1] += "\n"
        lines[at:at] = made
    result = "".join(lines).encode()
    try:
        found = json.loads(json.dumps(read_yaml(result, where)))
    except UserError:
        found = None
    if found != wanted:
        raise UserError(
            f"the lists of {where} are not one item a line, so nothing can be added to them safely"
        )
    return result
