"""Small reports of other tools, made by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SOURCE = "function f(a, b) {\n  return a + b;\n}\n"


def stryker_mutant(name: str, status: str, **keys: Any) -> dict[str, Any]:
    """The `+` on line 2 becomes a `-`."""
    return {
        "id": name,
        "mutatorName": "ArithmeticOperator",
        "replacement": "-",
        "location": {"start": {"line": 2, "column": 12}, "end": {"line": 2, "column": 13}},
        "status": status,
        **keys,
    }


def stryker(
    mutants: Sequence[Mapping[str, Any]], tests: Sequence[str] = ("a", "b", "c"), **keys: Any
) -> dict[str, Any]:
    return {
        "schemaVersion": "2",
        "thresholds": {"high": 80, "low": 60},
        "files": {
            "src/f.js": {"language": "javascript", "source": SOURCE, "mutants": list(mutants)}
        },
        "testFiles": {"t.js": {"tests": [{"id": t, "name": f"test {t}"} for t in tests]}},
        "framework": {"name": "StrykerJS", "version": "9.0.0"},
        **keys,
    }


def save(path: Path, document: Any) -> Path:
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text, encoding="utf-8")
    return path


def pit_mutation(status: str, index: int = 0, ran: int | None = None, **texts: str) -> str:
    inside = {
        "sourceFile": "F.java",
        "mutatedClass": "org.F",
        "mutatedMethod": "add",
        "methodDescription": "(II)I",
        "lineNumber": "12",
        "mutator": "org.pitest.mutationtest.engine.gregor.mutators.MathMutator",
        "description": "Replaced integer addition with subtraction",
        **texts,
    }
    count = "" if ran is None else f" numberOfTestsRun='{ran}'"
    body = "".join(f"<{tag}>{text}</{tag}>" for tag, text in inside.items())
    return (
        f"<mutation detected='true' status='{status}'{count}>{body}"
        f"<indexes><index>{index}</index></indexes></mutation>"
    )


def pit(*mutations: str, head: str = "") -> str:
    return (
        f"<?xml version='1.0' encoding='UTF-8'?>\n{head}<mutations>{''.join(mutations)}</mutations>"
    )
