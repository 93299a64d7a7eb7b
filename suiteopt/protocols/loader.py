"""Protocols that ship with the package, and those of users' own TOML files."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from suiteopt.errors import UserError
from suiteopt.matrix.oracle import Oracle, parse_oracle
from suiteopt.protocols.protocol import Protocol, protocol_from


@cache
def known_protocols() -> Mapping[str, Protocol]:
    """Return the protocols that ship with the package, by name, in alphabetical order."""
    folder = files("suiteopt.protocols")
    texts = {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    protocols = [protocol_from(tomllib.loads(texts[name]), name) for name in sorted(texts)]
    return MappingProxyType({p.name: p for p in sorted(protocols, key=lambda p: p.name)})


def protocol_oracles() -> Mapping[str, Oracle]:
    """Return the oracles of the protocols that ship with the package, for `parse_oracle`."""
    return {name: protocol.oracle for name, protocol in known_protocols().items()}


def load_protocol(name_or_path: str) -> Protocol:
    """Return a protocol by its name or from a TOML file.

    One from a file that bears the name of a shipped one is called after its file, too: the two
    are never to be confused in an answer. Its oracle is called by the file's path, by which
    `load_oracle` finds it again when a suite that was chosen under it is opened.

    Raises
    ------
    UserError
        If there is none of that name and no such file, or the file is no protocol.
    """
    known = known_protocols()
    if name_or_path in known:
        return known[name_or_path]
    if not name_or_path.endswith(".toml"):
        raise UserError(
            f"there is no protocol {name_or_path!r}; use one of {', '.join(known)}, "
            "or the path of a .toml file"
        )
    path = Path(name_or_path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"there is no file {path}; give the path of a protocol") from error
    except OSError as error:
        raise UserError(
            f"{path} cannot be read ({error.strerror}); give the file of a protocol"
        ) from error
    except (ValueError, RecursionError) as error:  # what tomllib says, and numbers beyond Python's
        reason = str(error).splitlines()[0][:200]
        raise UserError(f"{path} is no TOML file ({reason}); correct it") from error
    found = protocol_from(data, str(path))
    name = f"{found.name} ({path.name})" if found.name in known else found.name
    title = name if found.title == found.name else found.title
    return replace(found, name=name, title=title, oracle=replace(found.oracle, name=name_or_path))


def load_oracle(text: str) -> Oracle:
    """Return the oracle that a user means; protocols by name or TOML file included.

    Raises
    ------
    UserError
        See `suiteopt.matrix.oracle.parse_oracle` and `load_protocol`.
    """
    if text.endswith(".toml"):
        return load_protocol(text).oracle
    return parse_oracle(text, protocol_oracles())
