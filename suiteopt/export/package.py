"""The files that every hardened package holds: recipes, members, the suite, and their hashes."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from suiteopt.export.parameter_names import names_of, unread_of
from suiteopt.export.suite_oracle import suite_oracle
from suiteopt.export.target import RenderedFile, template
from suiteopt.matrix.files import sha256
from suiteopt.suite import Suite


def recipes_source() -> bytes:
    """Return the recipe module, as it travels."""
    return (files("suiteopt.inputs") / "recipes.py").read_bytes()


def runtime_source() -> bytes:
    """Return the module that serves members and judges outputs, as it travels."""
    return template("hardened_inputs.py").read_bytes()


def package_files(
    directory: str, suite: Suite, more: Mapping[str, Any] | None = None
) -> tuple[RenderedFile, ...]:
    """Return the files of a package, by name.

    Parameters
    ----------
    directory : str
        Where they go, relative to the checkout.
    suite : Suite
        Travels whole, as its file would be.
    more : mapping, optional
        What else ``export.json`` holds.
    """
    document = suite.to_json().encode()
    recipes, runtime = recipes_source(), runtime_source()
    about = {
        "matrix": suite.matrix_id,
        "nonfinite": str(suite_oracle(suite).nonfinite),
        "oracle": suite.oracle,
        "parameter_names": names_of(suite),
        "recipes_sha256": sha256(recipes),
        "runtime_sha256": sha256(runtime),
        "suite_sha256": sha256(document),
        "unread_parameters": unread_of(suite),
        **(more or {}),
    }
    return (
        RenderedFile(f"{directory}/recipes.py", recipes),
        RenderedFile(f"{directory}/hardened_inputs.py", runtime),
        RenderedFile(f"{directory}/suite.json", document),
        RenderedFile(f"{directory}/export.json", _json(about)),
    )


def _json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()
