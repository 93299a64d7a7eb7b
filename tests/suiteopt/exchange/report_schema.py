"""The rules of the mutation-testing-elements schema, version 2, as a JSON schema."""

from typing import Any

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
PERCENT = {"type": "integer", "minimum": 0, "maximum": 100}
FROM_ONE = {"type": "integer", "minimum": 1}
POINT = {
    "type": "object",
    "required": ["line", "column"],
    "properties": {"line": FROM_ONE, "column": FROM_ONE},
}
MUTANT = {
    "type": "object",
    "required": ["id", "mutatorName", "location", "status"],
    "properties": {
        "id": TEXT,
        "mutatorName": TEXT,
        "description": TEXT,
        "replacement": TEXT,
        "statusReason": TEXT,
        "killedBy": TEXTS,
        "coveredBy": TEXTS,
        "testsCompleted": {"type": "number"},
        "status": {
            "enum": ["Killed", "Survived", "NoCoverage", "CompileError", "RuntimeError",
                     "Timeout", "Ignored", "Pending"]
        },
        "location": {
            "type": "object",
            "required": ["start", "end"],
            "properties": {"start": POINT, "end": POINT},
        },
    },
}  # fmt: skip
FILE = {
    "type": "object",
    "required": ["language", "source", "mutants"],
    "properties": {
        "language": TEXT,
        "source": TEXT,
        "mutants": {"type": "array", "uniqueItems": True, "items": MUTANT},
    },
}
TEST = {"type": "object", "required": ["id", "name"], "properties": {"id": TEXT, "name": TEXT}}
TEST_FILE = {
    "type": "object",
    "required": ["tests"],
    "properties": {"tests": {"type": "array", "items": TEST}},
}
SCHEMA: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": ["schemaVersion", "thresholds", "files"],
    "properties": {
        "schemaVersion": {"type": "string", "pattern": r"^[0-2](\.\d+){0,2}$"},
        "thresholds": {
            "type": "object",
            "required": ["high", "low"],
            "properties": {"high": PERCENT, "low": PERCENT},
        },
        "files": {"type": "object", "additionalProperties": FILE},
        "testFiles": {"type": "object", "additionalProperties": TEST_FILE},
        "framework": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": TEXT, "version": TEXT},
        },
        "config": {"type": "object"},
    },
}
